"""What a program's communication and memory come to, as tables for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sdy.explain.json_form import axis_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sdy.explain.communication import Communication
    from sdy.explain.explanation import Explanation
    from sdy.explain.json_form import JsonForm
    from sdy.explain.suggestions import Suggestion
    from sdy.explain.totals import Total, Totals

__all__ = ["cost_tables"]


def cost_tables(explanation: Explanation, form: JsonForm, suggestions: int) -> dict[str, Any]:
    """Return the tables, by their keys in the document.

    Args:
      explanation: of the program.
      form: gives the indices of places and shardings.
      suggestions: how many are tried and told at most.

    """
    memory, topology = explanation.memory, explanation.topology
    return {
        "topology": None if topology is None else {"name": topology.name},
        "communication": [_communication(point, form) for point in explanation.communication],
        "totals": _totals(explanation.totals),
        "memory": {
            "arguments": memory.arguments,
            "results": memory.results,
            "peak": memory.peak,
            "peak_op": memory.peak_op,
        },
        "suggestions": [
            _suggestion(each, form)
            for each in (explanation.suggestions(suggestions) if suggestions else ())
        ],
    }


def _communication(point: Communication, form: JsonForm) -> dict[str, Any]:
    return {
        "op": point.op,
        "value": point.value,
        "place": form.place(point.place),
        "reason": point.reason,
        "from": form.sharding(point.from_),
        "to": form.sharding(point.to),
        "shape": point.shape,
        "element_type": point.element_type,
        "times": point.times,
        "bytes": point.bytes,
        "seconds": point.seconds,
        "rematerializes": point.rematerializes,
        "collectives": [
            {
                "kind": collective.kind,
                "axes": [axis_text(axis) for axis in collective.axes],
                "bytes": collective.bytes,
                "seconds": collective.seconds,
            }
            for collective in point.collectives
        ],
    }


def _totals(totals: Totals) -> dict[str, Any]:
    return {
        **_total(totals.all),
        "by_kind": _by_name(totals.by_kind),
        "by_axes": _by_name(totals.by_axes),
        "by_line": [
            {
                "file": None if frame is None else frame.file,
                "line": None if frame is None else frame.line,
                "column": None if frame is None else frame.column,
                "function": None if frame is None else frame.function,
                **_total(total),
            }
            for frame, total in totals.by_line.items()
        ],
    }


def _by_name(totals: Mapping[str, Total]) -> dict[str, dict[str, Any]]:
    return {name: _total(total) for name, total in totals.items()}


def _total(total: Total) -> dict[str, Any]:
    return {"count": total.count, "bytes": total.bytes, "seconds": total.seconds}


def _suggestion(suggestion: Suggestion, form: JsonForm) -> dict[str, Any]:
    return {
        "value": suggestion.value.number,
        "values": [value.number for value in suggestion.values],
        "sharding": form.sharding(suggestion.sharding),
        "for": form.place(suggestion.for_.place),
        "bytes_before": suggestion.bytes_before,
        "bytes_after": suggestion.bytes_after,
        "seconds_before": suggestion.seconds_before,
        "seconds_after": suggestion.seconds_after,
        "rematerializations_before": suggestion.rematerializations_before,
        "rematerializations_after": suggestion.rematerializations_after,
        "text": str(suggestion),
    }
