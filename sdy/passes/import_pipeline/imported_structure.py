"""What a module's structure is after its calls have become named computations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.ir.data_flow import DATA_FLOW_EDGE, NAMED_COMPUTATION
from sdy.ir.op_names import CALL, FUNCTION, SDY_RETURN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jaxlib.mlir import ir

    from sdy.ir.call_graph import CallGraph
    from sdy.ir.data_flow_edges import OwnedEdge
    from sdy.ir.indexed_module import IndexedModule
    from sdy.ir.structure_edit import StructureEdit

__all__ = ["ImportedStructure"]


class ImportedStructure:
    """Notes the import of calls, each of a function of its own.

    Calls are known by their places among the calls that the module had before.
    """

    def __init__(self, module: IndexedModule, graph: CallGraph) -> None:
        self._edit = module.edit()
        self._calls = self._edit.numbers(CALL)
        self._functions = dict(zip(graph.functions, self._edit.numbers(FUNCTION), strict=True))
        self._callees: dict[int, int] = {}
        self._argument_edges: dict[int, list[int]] = {}
        self._result_edges: dict[int, list[int]] = {}

    def call_imported(
        self, place: int, callee: str, computation: ir.Operation, terminator: ir.Operation
    ) -> None:
        """Note that a call has become a named computation.

        Args:
          place: of the call.
          callee: the name of the function that it called.
          computation: what the call has become.
          terminator: what the end of the function has become.

        """
        edit, call, function = self._edit, self._calls[place], self._functions[callee]
        last = edit.content(function)[-1]
        edit.replace(last, SDY_RETURN, terminator)
        edit.attributes_dropped(last)
        edit.renew_operands(last)
        edit.replace(call, NAMED_COMPUTATION, computation)
        edit.attributes_changed(call)
        edit.renew_operands(call)
        for result in edit.results(call):
            edit.uses.reverse(result)
        edit.move_body(function, call)
        self._callees[call] = function

    def edges_added(
        self, place: int, on_arguments: Iterable[OwnedEdge], on_results: Iterable[OwnedEdge]
    ) -> None:
        """Note that the arguments and results of a call that was imported have got edges."""
        edit, call = self._edit, self._calls[place]
        function = self._callees[call]
        arguments, results = edit.arguments(function), edit.results(call)
        self._argument_edges[call] = [
            edit.create_edge(DATA_FLOW_EDGE, edge, arguments[owner], function)
            for owner, edge in on_arguments
        ]
        self._result_edges[call] = [
            edit.create_edge(DATA_FLOW_EDGE, edge, results[owner], edit.parent(call))
            for owner, edge in on_results
        ]

    def finished(self) -> StructureEdit:
        """Return the edit, after the last of them."""
        self._edit.nest(
            {
                call: (self._argument_edges.get(call, []), callee, self._result_edges.get(call, []))
                for call, callee in self._callees.items()
            }
        )
        return self._edit
