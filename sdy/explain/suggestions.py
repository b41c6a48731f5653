"""Annotations that make a program talk less, each tried: propagated again, and added up again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sdy.dialect.errors import Error
from sdy.dialect.sharding import TensorSharding
from sdy.explain.alike import alike, group_text
from sdy.explain.columns import bytes_text
from sdy.explain.communication import communications
from sdy.explain.rivals import rival_annotations
from sdy.explain.traced import trace
from sdy.explain.what_if import with_annotation
from sdy.passes.export_pipeline.reshard_plan import plan_reshard

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sdy.explain.annotations import Annotation
    from sdy.explain.communication import Communication
    from sdy.explain.program import Program, Value
    from sdy.explain.topologies import Topology
    from sdy.explain.traced import Traced

__all__ = ["Suggestion", "suggest"]

_MOST_RESHARDS = 6
_MOST_TRIED = 24


@dataclass(frozen=True, slots=True)
class Suggestion:
    """An annotation of one value or of several that are alike, and what the program sends with it.

    Attributes:
      values: the tensors to annotate, of the program without it; more than one where all are
        annotated alike, as in the layers of a model.
      sharding: what to say of each.
      for_: the reshard that it is to remove or to ease.
      bytes_before: how many bytes a device sends in a run without it.
      bytes_after: the same with it.
      seconds_before: the time of that; None without a topology.
      seconds_after: the same with it.
      rematerializations_before: of how many full rematerializations XLA is to warn without it.
      rematerializations_after: the same with it.

    """

    values: tuple[Value, ...]
    sharding: TensorSharding
    for_: Communication
    bytes_before: int
    bytes_after: int
    seconds_before: float | None
    seconds_after: float | None
    rematerializations_before: int
    rematerializations_after: int

    @property
    def value(self) -> Value:
        """The first of the values."""
        return self.values[0]

    @property
    def is_removal(self) -> bool:
        """Whether the annotations that are there are to go: the sharding says nothing."""
        said = self.sharding
        return said == TensorSharding.fully_open(said.mesh, said.rank)

    def __str__(self) -> str:
        values = group_text(self.values)
        text = f"annotate {values} with {self.sharding}"
        if self.is_removal:
            what = "annotation" if len(self.values) == 1 else "annotations"
            text = f"take the {what} off {values}"
        text += f": a device sends {bytes_text(self.bytes_before - self.bytes_after)} less"
        if self.bytes_before:
            text += f" of {bytes_text(self.bytes_before)}"
        fewer = self.rematerializations_before - self.rematerializations_after
        if fewer > 0:
            text += f", {fewer} full rematerialization{'s' if fewer > 1 else ''} less"
        return text


def suggest(
    source: Traced, *, top: int = 3, topology: Topology | None = None
) -> tuple[Suggestion, ...]:
    """Return the annotations that save the most, at most one for each reshard, the best first.

    For each of the costliest reshards, the tensor that is moved, what it is computed from and
    what is computed of it are annotated as it is before or after, and as a plan of single
    collectives has it between; and annotations that were in the way of its axes are changed, each
    alone and with those that are alike. Every annotation is tried on a copy of the program.

    Args:
      source: the program.
      top: how many there are at most.
      topology: the machine; then time decides, else the bytes that a device sends.

    """
    before = communications(source, topology)
    annotations = () if source.inquiry is None else tuple(source.inquiry.chains.annotations)
    tried: set[tuple[tuple[Value, ...], TensorSharding]] = set()
    best: list[Suggestion] = []
    for reshard in _costliest(before):
        found: list[Suggestion] = []
        for values, sharding in _candidates(source, reshard, annotations):
            key = values, sharding
            if key not in tried and len(tried) < _MOST_TRIED:
                tried.add(key)
                after = _try(source, values, sharding, topology)
                if after is not None and _is_better(after, before):
                    found.append(_suggestion(values, sharding, reshard, before, after))
        best += sorted(found, key=_rank)[:1]
    return tuple(sorted(best, key=_rank)[:top])


def _costliest(found: Iterable[Communication]) -> list[Communication]:
    """Return the reshards that cost the most; those that gather everything first.

    Of those that are alike, as in the layers of a model, one comes before the others of all kinds.
    """
    reshards = [point for point in found if point.reason == "reshard" and point.value is not None]
    reshards.sort(key=lambda point: (not point.rematerializes, -point.bytes))
    met: Counter[object] = Counter()
    ranked: list[tuple[bool, int, Communication]] = []
    for point in reshards:
        kind = (point.from_, point.to, point.shape, point.place.frames or point)
        ranked.append((not point.rematerializes, met[kind], point))
        met[kind] += 1
    ranked.sort(key=lambda each: each[:2])
    return [point for _, _, point in ranked[:_MOST_RESHARDS]]


def _candidates(
    source: Traced, reshard: Communication, annotations: Sequence[Annotation]
) -> Iterator[tuple[tuple[Value, ...], TensorSharding]]:
    """Yield what could be annotated, and how."""
    for value, sharding in _of_neighbours(source.program, reshard):
        yield (value,), sharding
    if reshard.op is None or reshard.value is None:
        return
    for rival, sharding in rival_annotations(source, reshard.value, reshard.op):
        yield (rival,), sharding
        for group in alike(source.program, annotations, rival):
            yield group, sharding


def _of_neighbours(
    program: Program, reshard: Communication
) -> Iterator[tuple[Value, TensorSharding]]:
    """Yield what the tensor that is moved, its operands and its user could be sharded as."""
    if reshard.value is None:
        return
    value = program.values[reshard.value]
    between = list(_between(reshard))
    for sharding in (reshard.to, *between):
        yield value, _closed(sharding)
    if reshard.op is not None:
        for number in program.ops[reshard.op].results:
            yield from _as(program.values[number], value, [reshard.from_, *between])
    if value.op is not None:
        for number in program.ops[value.op].operands:
            yield from _as(program.values[number], value, [reshard.to, *between])


def _as(
    other: Value, value: Value, shardings: Sequence[TensorSharding]
) -> Iterator[tuple[Value, TensorSharding]]:
    if other.shape == value.shape:
        yield from ((other, _closed(sharding)) for sharding in shardings)


def _between(reshard: Communication) -> Iterator[TensorSharding]:
    """Yield the shardings between single collectives, and one split as both are."""
    try:
        steps = plan_reshard(reshard.from_, reshard.to, reshard.shape).steps
    except Error:
        return
    yield from (step.sharding for step in steps[:-1])
    held = tuple(reshard.from_.axes())
    dimensions = list(reshard.from_.dimensions)
    for dim, then in enumerate(reshard.to.dimensions):
        free = tuple(axis for axis in then.axes if not any(axis.overlaps(h) for h in held))
        dimensions[dim] = replace(dimensions[dim], axes=(*dimensions[dim].axes, *free))
    joined = replace(reshard.from_, dimensions=tuple(dimensions))
    if joined not in (reshard.from_, reshard.to):
        yield joined


def _closed(sharding: TensorSharding) -> TensorSharding:
    closed = tuple(replace(d, is_closed=True, priority=None) for d in sharding.dimensions)
    return replace(sharding, dimensions=closed, replicated=(), unreduced=())


def _try(
    source: Traced,
    values: tuple[Value, ...],
    sharding: TensorSharding,
    topology: Topology | None,
) -> tuple[Communication, ...] | None:
    """Return the communication with an annotation; None where it cannot be made."""
    try:
        module = with_annotation(source, values, sharding)
        return communications(trace(module, source.pipeline), topology)
    except Error:
        return None


def _is_better(after: Sequence[Communication], before: Sequence[Communication]) -> bool:
    """Return whether less is moved, and no more is rematerialized."""
    return _cost(after) < _cost(before) and _warnings(after) <= _warnings(before)


def _warnings(found: Iterable[Communication]) -> int:
    return sum(point.rematerializes for point in found)


def _cost(found: Iterable[Communication]) -> float:
    """Return the seconds, or without a topology the bytes, of all together."""
    return sum(point.bytes if point.seconds is None else point.seconds for point in found)


def _suggestion(
    values: tuple[Value, ...],
    sharding: TensorSharding,
    reshard: Communication,
    before: Sequence[Communication],
    after: Sequence[Communication],
) -> Suggestion:
    return Suggestion(
        values,
        sharding,
        reshard,
        sum(point.bytes for point in before),
        sum(point.bytes for point in after),
        _seconds(before),
        _seconds(after),
        _warnings(before),
        _warnings(after),
    )


def _seconds(found: Iterable[Communication]) -> float | None:
    seconds = [point.seconds for point in found]
    known = [each for each in seconds if each is not None]
    return sum(known) if len(known) == len(seconds) else None


def _rank(suggestion: Suggestion) -> tuple[float, int]:
    """Return what the better of two suggestions has less of."""
    after = suggestion.seconds_after
    return (
        suggestion.bytes_after if after is None else after,
        suggestion.rematerializations_after,
    )
