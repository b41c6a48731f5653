"""Why a program is sharded as it is, where it communicates, and what that costs.

`explain` propagates a program while a record is kept; `explanation` is what can be asked then.

- The record: `record`, `traced`, `op_marks`; which of its ops are which of the program that comes
  out: `correspondence`, `program`, `locations`.
- Why, and why not: `history`, `annotations`, `naming`, `why`; `final_steps`, `why_not`; `inquiry`,
  `answers`, `why_text`.
- What it costs: `partitioner`, `communication`, `collective_costs`, `topologies`, `totals`,
  `memory`, `rematerialization`.
- What if: `what_if`, `difference`, `suggestions`, `rivals`, `alike`.
- To be read: `overview`, `cost_text`, `placement`, `columns`, `printable`; `json_form`,
  `cost_tables`; `html_page` and the folder `page`.
"""
