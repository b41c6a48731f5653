"""What a program's communication and memory come to, as lines for the terminal."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sdy.explain.columns import aligned, bytes_text, count_text, seconds_text
from sdy.explain.totals import Total
from sdy.ir.diagnostics import render

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sdy.explain.communication import Communication
    from sdy.explain.explanation import Explanation
    from sdy.explain.locations import PlaceTexts

__all__ = ["cost_lines", "suggestion_lines"]


def cost_lines(explanation: Explanation, places: PlaceTexts, top: int) -> Iterator[str]:
    """Yield what communicates, by axes, line and value, and the memory of a device."""
    machine = explanation.topology
    on = "" if machine is None else f", on {machine.name}"
    yield f"Communication in one run{on}: what XLA's partitioner adds, and the program's own"
    yield from _communication(explanation, places, top)
    memory = explanation.memory
    yield "Memory of one device, an estimate"
    peak = f"{bytes_text(memory.peak)} at once"
    if memory.peak_op is not None:
        op = explanation.ops[memory.peak_op]
        peak += f", at {op.name}{places.at(op.place)}"
    arguments, results = bytes_text(memory.arguments), bytes_text(memory.results)
    yield f"  arguments {arguments}, results {results}, at most {peak}"


def _communication(explanation: Explanation, places: PlaceTexts, top: int) -> Iterator[str]:
    totals = explanation.totals
    if not explanation.communication:
        yield "  none"
        return
    rows = [("in all", *_amount(totals.all))]
    rows += [(kind, *_amount(total)) for kind, total in totals.by_kind.items()]
    rows += [(f"along {axes}", *_amount(total)) for axes, total in totals.by_axes.items()]
    yield from aligned(rows, len(rows))
    yield "Lines that communicate, the greatest first"
    lines: dict[str, Total] = {}
    for frame, total in totals.by_line.items():
        text = "at no known line" if frame is None else places.frame(frame)
        lines[text] = lines.get(text, Total()).plus(total.count, total.bytes, total.seconds)
    ordered = sorted(lines.items(), key=lambda line: -line[1].bytes)
    yield from aligned([(*_amount(total), text) for text, total in ordered], top)
    yield "Values that are moved, the greatest first"
    yield from aligned(_moves(explanation, places), top)
    yield from _warnings(explanation, top)


def _amount(total: Total) -> tuple[str, str, str]:
    count = count_text(total.count, "collective")
    return count, bytes_text(total.bytes), seconds_text(total.seconds)


def _moves(explanation: Explanation, places: PlaceTexts) -> list[tuple[str, ...]]:
    """Return a row for each kind of move at each place, the greatest first."""
    alike: dict[tuple[str, str], list[Communication]] = {}
    for point in explanation.communication:
        op = "" if point.op is None else f"for {explanation.ops[point.op].name}"
        key = _change(point), f"{op}{places.at(point.place)}"
        alike.setdefault(key, []).append(point)
    groups = sorted(alike.items(), key=lambda group: -sum(point.bytes for point in group[1]))
    return [
        (
            bytes_text(sum(point.bytes for point in points)),
            seconds_text(_seconds(points)),
            "" if len(points) == 1 else f"{len(points)} x",
            _value(explanation, points[0]),
            change,
            place,
        )
        for (change, place), points in groups
    ]


def _seconds(points: Sequence[Communication]) -> float | None:
    known = [point.seconds for point in points if point.seconds is not None]
    return sum(known) if len(known) == len(points) else None


def _value(explanation: Explanation, point: Communication) -> str:
    return "a value" if point.value is None else str(explanation.values[point.value])


def _change(point: Communication) -> str:
    """Return what is done to a value, and by which collectives."""
    kinds = ", ".join(collective.kind for collective in point.collectives)
    if point.reason == "reduction":
        summed = [axis for axis in point.from_.unreduced if axis not in point.to.unreduced]
        return f"summed along {', '.join(map(str, summed))} ({kinds})"
    if point.reason == "halo":
        return f"neighbours of a shard of <{point.from_.body}> ({kinds})"
    if point.from_ == point.to:
        return f"by the program itself ({kinds})"
    return f"<{point.from_.body}> to <{point.to.body}> ({kinds})"


def _warnings(explanation: Explanation, top: int) -> Iterator[str]:
    found = explanation.warnings
    if found:
        yield "Warnings that are to come from XLA"
        yield from aligned([[render(replace(each, notes=()))] for each in found], top)


def suggestion_lines(explanation: Explanation, top: int) -> Iterator[str]:
    """Yield the annotations that would save the most, each tried."""
    yield "Suggestions, each tried: propagated again, and added up again"
    found = explanation.suggestions(top)
    if not found:
        yield "  none: no annotation that was tried lets the program communicate less"
    yield from (f"  {suggestion}" for suggestion in found)
