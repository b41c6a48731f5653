"""The answer to why a tensor is not split: which axes came near, what stopped them, and who won.

Propagation ends where no op has anything more to spread. So the conflicts are those that each op
around a tensor meets with the shardings as they are at the end: the op's step is taken once more,
with all directions allowed, and what cuts an axis off is the reason.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sdy.dialect.axes import axes_size, prefix_without_overlap
from sdy.dialect.names import factor_symbol
from sdy.explain.final_steps import FinalSteps
from sdy.explain.history import dimension_of_factor
from sdy.passes.propagation.compatible_axes import (
    compatible_major_axes,
    prefix_free_of_other_factors,
    prefix_that_factor_admits,
)
from sdy.passes.propagation.direction import Direction
from sdy.passes.propagation.projection import is_prefix, is_strict_prefix

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sdy.dialect.axes import AxisRef
    from sdy.explain.annotations import Annotation
    from sdy.explain.final_steps import FinalStep
    from sdy.explain.locations import Place
    from sdy.explain.record import Record
    from sdy.explain.why import Arrival, Chain, Chains
    from sdy.passes.propagation.projection import Axes, FactorSharding, TensorFactors
    from sdy.passes.propagation.step_case import OpClass

__all__ = ["Conflict", "Conflicts", "Reason"]

Reason = Literal[
    "axis used",
    "other axes",
    "closed",
    "kept replicated",
    "does not divide",
    "minor part",
    "result differs",
    "blocked",
    "other mesh",
]

_MOST_VISITED = 1 << 16


@dataclass(frozen=True, slots=True)
class Conflict:
    """An op at which axes did not go on to a dimension of a tensor.

    Attributes:
      value: the number of the tensor's value; None where it is not in the program any more.
      name: its name.
      dim: the dimension that the axes did not come to.
      distance: how many ops lie between that dimension and the one that was asked about.
      op: the number of the op; None where it is not in the program any more.
      op_name: the name that it had.
      place: where it comes from.
      factor: the factor of its sharding rule, as rules print it.
      axes: what did not come: all axes of the source, major first.
      source: the number of a value that has them; None where it is not in the program.
      source_name: its name.
      reason: what was in the way. `axis used`: the axis splits another dimension of the tensor;
        `other axes`: the tensors of the op have different axes there; `closed`: the program
        closes the dimension; `kept replicated`: the program keeps the axis from splitting
        anything; `does not divide`: the op takes the dimension apart, and the axes do not divide
        the parts; `minor part`: the minor part of a dimension would be split whose major part is
        whole; `result differs`: an operand of an elementwise op is split only as its result is;
        `blocked`: the op lets nothing through; `other mesh`: its tensors are on different meshes.
      winner: what has the axis instead, or says otherwise; None where nobody does.
      annotation: the annotation that the winner has its axis from, that closes the dimension, or
        that keeps the axis replicated.

    """

    value: int | None
    name: str
    dim: int
    distance: int
    op: int | None
    op_name: str
    place: Place
    factor: str
    axes: tuple[AxisRef, ...]
    source: int | None
    source_name: str
    reason: Reason
    winner: Arrival | None = None
    annotation: Annotation | None = None


@dataclass(frozen=True, slots=True)
class _Site:
    """A dimension of a tensor, seen from an op that it takes part in."""

    mark: int
    tensor: int
    dim: int
    distance: int


@dataclass(frozen=True, slots=True)
class _Cut:
    """What stopped axes."""

    reason: Reason
    axes: Axes
    source: int | None
    winner: Arrival | None = None
    annotation: Annotation | None = None


class Conflicts:
    """Finds in a record what kept axes from tensors."""

    def __init__(self, chains: Chains, record: Record) -> None:
        self._chains = chains
        self._record = record
        self._steps = FinalSteps(record)

    def around(self, tensor: int, dim: int) -> list[Conflict]:
        """Return the conflicts at the ops of a tensor, each distinct one once."""
        return self._distinct(self._at(tensor, dim, 0))

    def nearest(self, tensor: int, dim: int) -> list[Conflict]:
        """Return the conflicts nearest to a dimension that no axis came near.

        Those are at tensors that are tied to it by sharding rules, through dimensions without
        axes.
        """
        seen = {(tensor, dim)}
        waiting = deque([(tensor, dim, 0)])
        while waiting and len(seen) < _MOST_VISITED:
            tensor, dim, distance = waiting.popleft()
            found = self._distinct(self._at(tensor, dim, distance))
            if found:
                return found
            for node in self._tied(tensor, dim):
                if node not in seen:
                    seen.add(node)
                    waiting.append((*node, distance + 1))
        return []

    def is_tied(self, tensor: int, dim: int) -> bool:
        """Return whether an op ties a dimension to one of another tensor."""
        return any(
            other != tensor
            for mark, position in self._steps.sites(tensor)
            if (op := self._record.classes[mark]) is not None
            for factor in op.rule.tensors[position].dimensions[dim].factors
            for mapping, other in zip(op.rule.tensors, self._record.op_tensors[mark], strict=True)
            if mapping.contains_factor(factor)
        )

    def _tied(self, tensor: int, dim: int) -> Iterator[tuple[int, int]]:
        """Yield the dimensions without axes that an op ties to one of a tensor."""
        for mark, position in self._steps.sites(tensor):
            op, step = self._record.classes[mark], self._steps.step(mark)
            if op is None:
                continue
            for factor in op.rule.tensors[position].dimensions[dim].factors:
                for other, mapping in enumerate(op.rule.tensors):
                    is_free = step is None or not step.axes(other, factor)
                    if mapping.contains_factor(factor) and is_free:
                        at = dimension_of_factor(op.rule, other, factor)
                        yield self._record.op_tensors[mark][other], at

    def _at(self, tensor: int, dim: int, distance: int) -> Iterator[Conflict]:
        for mark, position in self._steps.sites(tensor):
            op = self._record.classes[mark]
            if op is None:
                continue
            step = self._steps.step(mark)
            for factor in op.rule.tensors[position].dimensions[dim].factors:
                if step is None:
                    cut = self._other_mesh(mark, op, position, factor)
                else:
                    cut = self._cut(step, position, factor)
                if cut is not None:
                    yield self._conflict(_Site(mark, tensor, dim, distance), factor, cut)

    def _other_mesh(self, mark: int, op: OpClass, position: int, factor: int) -> _Cut | None:
        """Return which axes of another tensor are on a mesh that the op's tensors do not share."""
        if not self._steps.has_several_meshes(mark):
            return None
        for other, tensor in enumerate(self._record.op_tensors[mark]):
            sharding = self._record.shardings[tensor]
            if other == position or not op.rule.tensors[other].contains_factor(factor):
                continue
            dim = dimension_of_factor(op.rule, other, factor)
            if sharding is not None and sharding.dimensions and sharding.dimensions[dim].axes:
                return _Cut("other mesh", sharding.dimensions[dim].axes, tensor)
        return None

    def _conflict(self, site: _Site, factor: int, cut: _Cut) -> Conflict:
        naming = self._chains.naming
        value = naming.value_of(site.tensor)
        source = None if cut.source is None else naming.value_of(cut.source)
        return Conflict(
            value=None if value is None else value.number,
            name=naming.name_of(site.tensor),
            dim=site.dim,
            distance=site.distance,
            op=naming.op_of(site.mark),
            op_name=naming.op_name(site.mark),
            place=naming.place_of(site.mark),
            factor=factor_symbol(factor),
            axes=cut.axes,
            source=None if source is None else source.number,
            source_name="" if cut.source is None else naming.name_of(cut.source),
            reason=cut.reason,
            winner=cut.winner,
            annotation=cut.annotation,
        )

    def _cut(self, step: FinalStep, position: int, factor: int) -> _Cut | None:
        """Return why a tensor of an op lacks axes that another has; None where it lacks none."""
        own = step.axes(position, factor)
        sources = [
            other
            for other in range(len(step.tensors))
            if other != position and not is_prefix(step.axes(other, factor), own)
        ]
        if not sources:
            return self._overflow(step, position, factor)
        direction = step.directions[factor]
        major = compatible_major_axes(step.projection, factor, direction)
        if not is_strict_prefix(own, major):
            return self._disagreement(step, factor, sources)
        source = next(o for o in sources if is_prefix(major, step.axes(o, factor)))
        return self._cut_of_axes(step, position, factor, major, step.tensors[source])

    @staticmethod
    def _overflow(step: FinalStep, position: int, factor: int) -> _Cut | None:
        """Return which axes of another tensor do not divide the parts that the op sees."""
        for other, tensor in enumerate(step.tensors):
            sharding = step.factors(other).factors.get(factor)
            if other != position and sharding is not None and sharding.overflow:
                return _Cut("does not divide", sharding.overflow, tensor)
        return None

    def _disagreement(self, step: FinalStep, factor: int, sources: Sequence[int]) -> _Cut:
        """Return why no axes spread along a factor though a tensor has some."""
        first = sources[0]
        axes, source = step.axes(first, factor), step.tensors[first]
        if step.directions[factor] is not Direction.BOTH:
            return _Cut("blocked", axes, source)
        others = (
            position
            for position in range(len(step.tensors))
            if step.axes(position, factor) and not is_prefix(step.axes(position, factor), axes)
        )
        rival = next(others, None)
        if rival is None:
            return _Cut("blocked", axes, source)
        chain = self._chains.chain(
            step.tensors[rival],
            dimension_of_factor(step.op.rule, rival, factor),
            step.axes(rival, factor)[0],
        )
        return _Cut("other axes", axes, source, chain.end, chain.annotation)

    def _cut_of_axes(
        self, step: FinalStep, position: int, factor: int, axes: Axes, source: int
    ) -> _Cut | None:
        """Return what cuts off axes on which all tensors of an op agree, for one of them."""
        tensor, size = step.factors(position), 1
        sharding = tensor.factors.get(factor)
        if sharding is None:
            return _Cut("does not divide", axes, source)
        for axis in axes:
            kept = prefix_that_factor_admits(
                axis, tensor, sharding, size, step.op.rule.factor_sizes[factor], step.mesh
            )
            if kept != axis:
                reason = _reason_within_factor(axis, tensor, sharding)
                said = reason in ("closed", "kept replicated")
                annotation = self._chains.annotations.of(step.tensors[position]) if said else None
                return _Cut(reason, axes, source, annotation=annotation)
            if prefix_free_of_other_factors(axis, tensor.factors, factor) != axis:
                chain = self._user(step, position, factor, axis)
                return _Cut("axis used", axes, source, chain.end, chain.annotation)
            size *= axis.size(step.mesh)
        if not self._is_reachable(step, position, factor):
            return _Cut("minor part", axes, source)
        return self._difference_of_result(step, position, factor, axes, source)

    @staticmethod
    def _is_reachable(step: FinalStep, position: int, factor: int) -> bool:
        """Return whether the factors before one in its dimension are fully split."""
        rule = step.op.rule
        dim = dimension_of_factor(rule, position, factor)
        factors = rule.tensors[position].dimensions[dim].factors
        return all(
            axes_size(step.axes(position, major), step.mesh) >= rule.factor_sizes[major]
            for major in factors[: factors.index(factor)]
        )

    def _user(self, step: FinalStep, position: int, factor: int, axis: AxisRef) -> Chain:
        """Return how the axis came to the other factor of the tensor that it splits."""
        other = next(
            other
            for other, sharding in step.factors(position).factors.items()
            if other != factor and any(a.overlaps(axis) for a in sharding.axes + sharding.overflow)
        )
        dim = dimension_of_factor(step.op.rule, position, other)
        return self._chains.chain(step.tensors[position], dim, axis)

    def _difference_of_result(
        self, step: FinalStep, position: int, factor: int, axes: Axes, source: int
    ) -> _Cut | None:
        """Return which result of an elementwise op keeps its operands from being split."""
        count = len(step.op.rule.operands)
        if not step.op.is_elementwise or position >= count:
            return None
        for result in range(count, len(step.tensors)):
            if is_strict_prefix(step.axes(result, factor), axes):
                return _Cut("result differs", axes, source)
        return None

    @staticmethod
    def _distinct(conflicts: Iterator[Conflict]) -> list[Conflict]:
        """Return one of those that say the same of the same place in the source."""
        seen: dict[object, Conflict] = {}
        for conflict in conflicts:
            key = (
                conflict.axes,
                conflict.reason,
                conflict.winner,
                conflict.place,
                conflict.op_name,
            )
            seen.setdefault(key, conflict)
        return list(seen.values())


def _reason_within_factor(axis: AxisRef, tensor: TensorFactors, sharding: FactorSharding) -> Reason:
    if prefix_without_overlap(axis, tensor.replicated + tensor.unreduced) != axis:
        return "kept replicated"
    return "closed" if sharding.is_closed else "does not divide"
