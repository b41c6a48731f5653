"""The answer to why a value is sharded so, as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.dialect.axes import axes_size
from sdy.explain.locations import PlaceTexts
from sdy.explain.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sdy.dialect.axes import AxisRef
    from sdy.explain.annotations import Annotation
    from sdy.explain.answers import Removal, Why, WhyNot
    from sdy.explain.locations import Place
    from sdy.explain.program import Value
    from sdy.explain.why import Arrival, Chain, Move
    from sdy.explain.why_not import Conflict

__all__ = ["WhyTexts", "local_text", "short_reason", "why_text"]

_LONGEST_CHAIN = 16
_SHOWN_FIRST = 5
_SHOWN_LAST = 10


def why_text(why: Why) -> str:
    """Return the whole answer about one value, without a line break at the end."""
    return "\n".join(map(printable, WhyTexts(PlaceTexts(_places(why))).lines(why)))


def short_reason(why: Why) -> str:
    """Return in one line where axes came near a value that is not split; '' if they did nowhere."""
    texts = WhyTexts(PlaceTexts(_places(why)))
    for removal in why.removed:
        return printable(texts.removal(removal))
    for why_not in why.why_not:
        for conflict in why_not.conflicts:
            return printable(f"dimension {why_not.dim}: {texts.conflict(conflict)}")
    for why_not in why.why_not:
        if why_not.closed_by is not None or why_not.without_rule:
            return printable(f"dimension {why_not.dim}: {texts.reasons(why_not)[0]}")
    return ""


def _places(why: Why) -> Iterator[Place]:
    """Yield the places that an answer names."""
    if why.op is not None:
        yield why.op.place
    yield from (op.place for op in why.needed_by)
    arrivals = (arrival for chain in why.chains for arrival in chain.arrivals)
    for arrival in arrivals:
        if arrival.move is not None:
            yield arrival.move.place
        if arrival.annotation is not None:
            yield arrival.annotation.place
    for why_not in why.why_not:
        for conflict in why_not.conflicts:
            yield conflict.place
            if conflict.annotation is not None:
                yield conflict.annotation.place


class WhyTexts:
    """The texts of answers, whose places are told by `places`."""

    def __init__(self, places: PlaceTexts) -> None:
        self._places = places

    def lines(self, why: Why) -> Iterator[str]:
        """Yield the lines of the whole answer about one value."""
        value = why.value
        sharding = "no sharding" if value.sharding is None else str(value.sharding)
        yield f"{value}: {value.type}, {sharding}"
        if why.op is not None:
            is_result = value.number in why.op.results
            role = "result of" if is_result else "argument in a region of"
            yield f"  {role} {why.op.name}{self._places.at(why.op.place)}"
        if value.manual_axes:
            yield f"  {local_text(value)}"
        if why.came_from is not None:
            users = [f"{op.name}{self._places.at(op.place)}" for op in why.needed_by]
            yield f"  it is {why.came_from} in another sharding, for {', '.join(users)}"
        if not value.shape:
            yield "  it has no dimensions to split"
        for chains in _alike(why.chains):
            yield from self._chain(why, chains)
        for removal in why.removed:
            yield f"  {self.removal(removal)}"
        for why_not in why.why_not:
            yield from self._why_not(why_not)

    # Chains.

    def _chain(self, why: Why, chains: Sequence[Chain]) -> Iterator[str]:
        """Yield the lines of chains that are alike but for the axis."""
        first, axes = chains[0], [chain.end.axis for chain in chains]
        parts = ""
        if why.value.sharding is not None:
            parts = f" in {axes_size(axes, why.value.sharding.bound_mesh)}"
        head = f"  dimension {first.end.dim} is split along {_axes(axes)}{parts}:"
        if len(first.arrivals) == 1:
            yield f"{head} {self.arrival(first.end)}"
            return
        yield head
        rows = [(_station(arrival), self.arrival(arrival)) for arrival in first.arrivals]
        width = max(len(station) for station, _ in rows)
        lines = [f"    {station:{width}}  {how}" for station, how in rows]
        if len(lines) > _LONGEST_CHAIN:
            left_out = len(lines) - _SHOWN_FIRST - _SHOWN_LAST
            lines[_SHOWN_FIRST:-_SHOWN_LAST] = [f"    ... {left_out} more steps"]
        yield from lines

    def arrival(self, arrival: Arrival) -> str:
        """Return how an axis came to one station of its way."""
        if arrival.move is not None:
            return self._move(arrival.move)
        annotation = arrival.annotation
        if annotation is None:
            return "from the beginning"
        said = "" if annotation.sharding is None else f" <{annotation.sharding.body}>"
        if annotation.kind == "argument" and annotation.value == arrival.value:
            return f"annotated{said}"
        return f"annotated{said} by {self.annotation(annotation)}"

    def annotation(self, annotation: Annotation) -> str:
        """Return who says an annotation, and where."""
        return annotation.text + self._places.at(annotation.place)

    def _move(self, move: Move) -> str:
        match move.direction:
            case "group":
                return "with the rest of its sharding group"
            case "result":
                way = "returned by the function"
            case "sideways":
                way = f"from operand to operand of {self._op(move)}"
            case direction:
                way = f"{direction} through {self._op(move)}"
        return f"{way} (user {move.user_priority}, op {move.op_priority}, {move.strategy})"

    def _op(self, move: Move) -> str:
        return f"{move.op_name}, factor {move.factor},{self._places.at(move.place)}".rstrip(",")

    # Why not.

    @staticmethod
    def removal(removal: Removal) -> str:
        """Return what the export took away, and why."""
        return (
            f"dimension {removal.dim} lost {_axes(removal.axes)} again: {removal.parts} parts "
            f"do not divide its size {removal.size}, and XLA takes no argument or result that is "
            "split unevenly"
        )

    def _why_not(self, why_not: WhyNot) -> Iterator[str]:
        along = "" if why_not.axis is None else f" along {why_not.axis}"
        yield f"  dimension {why_not.dim} is not split{along}:"
        for reason in self.reasons(why_not):
            yield f"    {reason}"

    def reasons(self, why_not: WhyNot) -> list[str]:
        """Return why a dimension is not split, a sentence for each reason; at least one."""
        reasons = list(self._reasons(why_not))
        if not reasons and why_not.is_tied:
            reasons = ["it has no annotation, and nothing that it is tied to is split"]
        elif not reasons:
            reasons = ["it has no annotation, and no sharding rule ties it to another dimension"]
        return reasons

    def _reasons(self, why_not: WhyNot) -> Iterator[str]:
        if why_not.used_in is not None:
            yield f"{why_not.axis} splits dimension {why_not.used_in} of it"
        if why_not.closed_by is not None:
            yield f"it is closed by its annotation: {self.annotation(why_not.closed_by)}"
        for conflict in why_not.conflicts:
            yield self.conflict(conflict)
        for name in why_not.without_rule:
            yield f"{name} has no sharding rule: nothing goes through it"

    def conflict(self, conflict: Conflict) -> str:
        """Return what stopped which axes where, and who won."""
        at = self._places.at(conflict.place)
        where = f"{conflict.op_name}, factor {conflict.factor},{at}".rstrip(",")
        far = f", {_ops(conflict.distance)} away" if conflict.distance else ""
        who = f"{_axes(conflict.axes)} of {conflict.source_name}"
        return f"{who} does not come through {where}{far}: {self._obstacle(conflict)}"

    def _obstacle(self, conflict: Conflict) -> str:
        here = f"dimension {conflict.dim} of {conflict.name}"
        said = conflict.annotation
        source = "" if said is None else f", from {self.annotation(said)}"
        winner = conflict.winner
        match conflict.reason:
            case "axis used" if winner is not None:
                return (
                    f"{winner.axis} already splits dimension {winner.dim} of {conflict.name}"
                    f"{source}"
                )
            case "other axes" if winner is not None:
                return f"{winner.name} has {winner.axis} there{source}, and they must agree"
            case "closed":
                return f"{here} is closed{source}"
            case "kept replicated":
                return f"the axis may not split {conflict.name}{source}"
            case "does not divide":
                return "the op takes the dimension apart, and the axes do not divide the parts"
            case "minor part":
                return f"it would split the minor part of {here}, whose major part is whole"
            case "result differs":
                return "the op is elementwise, and its result is not split so"
            case "other mesh":
                return "the tensors of the op are on different meshes"
            case _:
                return "the op lets nothing through"


def local_text(value: Value) -> str:
    """Return what a value in a manual computation is, as a sentence."""
    axes = ", ".join(f'"{axis}"' for axis in value.manual_axes)
    return f"in a manual computation: each device along {axes} has a value of its own"


def _alike(chains: Sequence[Chain]) -> list[list[Chain]]:
    """Return the chains in groups of those that went the same way to the same dimension."""
    groups: dict[object, list[Chain]] = {}
    for chain in chains:
        way = tuple((a.name, a.dim, a.move, a.annotation) for a in chain.arrivals)
        groups.setdefault(way, []).append(chain)
    return list(groups.values())


def _station(arrival: Arrival) -> str:
    label = f" ({arrival.label})" if arrival.label else ""
    return f"{arrival.name}{label} dim {arrival.dim}"


def _axes(axes: Sequence[AxisRef]) -> str:
    return ", ".join(map(str, axes))


def _ops(count: int) -> str:
    return "1 op" if count == 1 else f"{count} ops"
