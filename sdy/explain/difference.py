"""What differs between two explanations: of one program that says more, or of two programs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sdy.explain.columns import aligned, bytes_text, seconds_text
from sdy.explain.locations import Place, PlaceTexts
from sdy.explain.printable import printable
from sdy.explain.totals import Total
from sdy.explain.value_pairs import value_pairs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sdy.explain.explanation import Explanation
    from sdy.explain.locations import Frame
    from sdy.explain.memory import Memory
    from sdy.explain.program import Value

__all__ = ["ChangedLine", "ChangedValue", "Difference", "compare"]

_MOST_LINES = 20


@dataclass(frozen=True, slots=True)
class ChangedValue:
    """A value of two programs that is sharded in another way in the second."""

    before: Value
    after: Value

    def __str__(self) -> str:
        was = "" if self.before.spelling == self.after.spelling else f", was {self.before.spelling}"
        return f"{self.after}{was}: {_sharding(self.before)} -> {_sharding(self.after)}"


@dataclass(frozen=True, slots=True)
class ChangedLine:
    """A line of the source that communicates more or less in the second program.

    Attributes:
      line: the line, its column left out; None for what comes from no known line.
      before: what it communicates in one run of the first program.
      after: what it does in the second.

    """

    line: Frame | None
    before: Total
    after: Total


@dataclass(frozen=True, slots=True)
class Difference:
    """What is different in a second program.

    Values correspond as `sdy.explain.value_pairs` says.

    Attributes:
      changed: the values that are sharded in another way, those with the largest shards first.
      removed: the values of the first program that correspond to none of the second.
      added: the values of the second program that correspond to none of the first.
      unchanged: how many values are sharded alike.
      communication: what each program communicates in one run, the first one first.
      lines: where that has changed, the greatest change first.
      memory: what one device needs for each program, the first one first.

    """

    changed: tuple[ChangedValue, ...]
    removed: tuple[Value, ...]
    added: tuple[Value, ...]
    unchanged: int
    communication: tuple[Total, Total]
    lines: tuple[ChangedLine, ...]
    memory: tuple[Memory, Memory]

    def __str__(self) -> str:
        return self.text(_MOST_LINES)

    def text(self, top: int) -> str:
        """Return what differs, with at most so many values and lines of each kind."""
        return "\n".join(map(printable, self._lines(top)))

    def _lines(self, top: int) -> Iterator[str]:
        yield (
            f"Values: {len(self.changed)} sharded in another way, {self.unchanged} as before, "
            f"{len(self.added)} new, {len(self.removed)} gone"
        )
        for mark, values in (("~", self.changed), ("+", self.added), ("-", self.removed)):
            yield from (f"  {mark} {value}" for value in values[:top])
            if len(values) > top:
                yield f"  {mark} ... {len(values) - top} more"
        yield f"Communication in one run: {_change(*self.communication)}"
        frames = [line.line for line in self.lines if line.line is not None]
        places = PlaceTexts([Place("", tuple(frames))])
        rows = [
            (
                _change(line.before, line.after),
                "at no known line" if line.line is None else places.frame(line.line),
            )
            for line in self.lines
        ]
        yield from aligned(rows, top)
        before, after = (bytes_text(memory.peak) for memory in self.memory)
        yield f"Memory of one device, at most: {before} -> {after}"


def _change(before: Total, after: Total) -> str:
    text = f"{bytes_text(before.bytes)} -> {bytes_text(after.bytes)}"
    if before.seconds or after.seconds:
        text += f", {seconds_text(before.seconds)} -> {seconds_text(after.seconds)}"
    return text


def _sharding(value: Value) -> str:
    return "no sharding" if value.sharding is None else f"<{value.sharding.body}>"


def compare(before: Explanation, after: Explanation) -> Difference:
    """Return what is different in `after`."""
    pairs = list(value_pairs(before.program, after.program))
    old, new = {one.number for one, _ in pairs}, {other.number for _, other in pairs}
    changed = [ChangedValue(one, two) for one, two in pairs if _sharding(one) != _sharding(two)]
    changed.sort(key=lambda change: -max(change.before.local_bytes, change.after.local_bytes))
    return Difference(
        tuple(changed),
        tuple(value for value in before.values if value.number not in old),
        tuple(value for value in after.values if value.number not in new),
        len(pairs) - len(changed),
        (before.totals.all, after.totals.all),
        tuple(_changed_lines(before.totals.by_line, after.totals.by_line)),
        (before.memory, after.memory),
    )


def _changed_lines(
    before: Mapping[Frame | None, Total], after: Mapping[Frame | None, Total]
) -> list[ChangedLine]:
    old, new = _by_line(before), _by_line(after)
    lines = [
        ChangedLine(line, old.get(line, Total()), new.get(line, Total())) for line in old | new
    ]
    changed = [line for line in lines if line.before != line.after]
    return sorted(changed, key=lambda line: -abs(line.after.bytes - line.before.bytes))


def _by_line(totals: Mapping[Frame | None, Total]) -> dict[Frame | None, Total]:
    """Return the totals of whole lines."""
    lines: dict[Frame | None, Total] = {}
    for frame, total in totals.items():
        line = None if frame is None else replace(frame, column=0)
        lines[line] = lines.get(line, Total()).plus(total.count, total.bytes, total.seconds)
    return lines
