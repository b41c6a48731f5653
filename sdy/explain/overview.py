"""What an explanation says of the whole program, as lines for the terminal.

What repeats itself, as the layers of a model do, is told of once, with a count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.explain.alike import common_name, pattern
from sdy.explain.columns import aligned, bytes_text, count_text
from sdy.explain.cost_text import cost_lines
from sdy.explain.locations import PlaceTexts
from sdy.explain.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sdy.explain.explanation import Explanation
    from sdy.explain.program import Program, Value

__all__ = ["overview"]


def overview(explanation: Explanation, top: int) -> Iterator[str]:
    """Yield the lines, at most so many of each kind. Those that are not indented are headings."""
    program = explanation.program
    places = PlaceTexts([*(op.place for op in program.ops), *(v.place for v in program.values)])
    for lines in (
        _size(program),
        _annotations(explanation, places, top),
        _whole(explanation, places, top),
        cost_lines(explanation, places, top),
    ):
        yield from map(printable, lines)


def _size(program: Program) -> Iterator[str]:
    yield "Program"
    for mesh in program.meshes:
        axes = " x ".join(f"{axis.name}={axis.size}" for axis in mesh.axes)
        yield f"  mesh @{mesh.name}: {axes or 'no axes'}, {count_text(mesh.size, 'device')}"
    tensors = _tensors(program)
    split = sum(value.is_split for value in tensors)
    yield f"  {count_text(len(program.ops), 'op')}"
    yield f"  {count_text(len(tensors), 'tensor')}: {split} split, {len(tensors) - split} whole"


def _tensors(program: Program) -> list[Value]:
    """Return the values with dimensions, but for those that are parts of others already."""
    return [value for value in program.values if value.shape and not value.manual_axes]


def _annotations(explanation: Explanation, places: PlaceTexts, top: int) -> Iterator[str]:
    alike: dict[tuple[str, str, str], list[str]] = {}
    for annotation in explanation.annotations:
        said = "" if annotation.sharding is None else f"<{annotation.sharding.body}>"
        key = pattern(annotation.text), said, places.text(annotation.place)
        alike.setdefault(key, []).append(annotation.text)
    yield f"Annotations, {len(explanation.annotations)} in all: the rest follows from these"
    rows = [
        (_number(len(texts)), _name(name, texts), said, place)
        for (name, said, place), texts in alike.items()
    ]
    yield from aligned(rows, top)


def _whole(explanation: Explanation, places: PlaceTexts, top: int) -> Iterator[str]:
    """Yield the values that are not split, the largest first, each with the reason below it."""
    alike: dict[tuple[str, str, str], list[Value]] = {}
    for value in _tensors(explanation.program):
        if not value.is_split:
            name = pattern(str(value))
            if value.op is not None:
                name = f"{explanation.ops[value.op].name}{places.at(value.place)}"
            alike.setdefault((value.type, value.function, name), []).append(value)
    groups = sorted(alike.items(), key=lambda group: -group[1][0].local_bytes * len(group[1]))
    if not groups:
        return
    yield "Whole on every device, the largest first; where no reason stands, no axis came near"
    rows = []
    for (type_, _, name), values in groups:
        shown = _name(name, list(map(str, values)))
        given = "" if values[0].op is None else name
        size = bytes_text(values[0].local_bytes)
        rows.append((_number(len(values)), size, shown, type_, given))
    reasons = (explanation.reason(values[0]) for _, values in groups)
    for line, reason in zip(aligned(rows, top), reasons, strict=False):
        yield line
        if reason:
            yield f"      {reason}"


def _name(pattern_: str, texts: Sequence[str]) -> str:
    """Return what stands for several texts: the first, where a place told them to be alike."""
    return common_name(texts) if pattern(texts[0]) == pattern_ else texts[0]


def _number(count: int) -> str:
    return f"{count} x" if count > 1 else ""
