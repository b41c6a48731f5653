"""Chooses axes for factors where the tensors of an op are in conflict.

Greedy: every sharding of a factor in some tensor, and each prefix of it, is a candidate. The best
one is chosen; the others are cut back to what does not overlap it; and so on until none is left.
The idea is Shardy's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdy.dialect.axes import axes_size, prefix_without_overlap
from sdy.dialect.sharding_rule import FactorType
from sdy.passes.propagation.projection import is_prefix, is_strict_prefix

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding_rule import OpShardingRule
    from sdy.passes.propagation.projection import Projection

__all__ = ["choose_axes", "without_overlap"]

Axes = tuple["AxisRef", ...]

_PRECEDENCE = {
    FactorType.PASS_THROUGH: 3,
    FactorType.REDUCTION: 2,
    FactorType.PERMUTATION: 1,
    FactorType.NEED_REPLICATION: 0,
}


def choose_axes(
    projection: Projection, rule: OpShardingRule, sizes: Sequence[int], mesh: Mesh
) -> list[Axes]:
    """Return for each factor the axes chosen for it; no two of them overlap.

    Args:
      projection: the factor shardings as they are.
      rule: the op's rule.
      sizes: how many elements each operand, then each result, has.
      mesh: the mesh of the shardings.

    """
    chosen: list[Axes] = [()] * rule.factor_count
    candidates = _candidates(projection, rule, sizes, mesh)
    not_full = _factors_before(rule)
    while True:
        open_to_choice = [c for c in candidates if not not_full[c.factor]]
        if not open_to_choice:
            return chosen
        best = max(open_to_choice, key=_Candidate.rank)
        chosen[best.factor] = best.axes
        if axes_size(best.axes, mesh) == rule.factor_sizes[best.factor]:
            for factors in not_full:
                factors.discard(best.factor)
        best_axes = best.axes
        candidates = [c for c in candidates if c.cut_back(best.factor, best_axes, chosen, mesh)]


def without_overlap(axes: Axes, others: Iterable[AxisRef]) -> Axes:
    """Return the longest prefix of `axes` that is in none of `others`."""
    others = tuple(others)
    for index, axis in enumerate(axes):
        prefix = prefix_without_overlap(axis, others)
        if prefix != axis:
            return axes[:index] if prefix is None else (*axes[:index], prefix)
    return axes


@dataclass(slots=True)
class _Candidate:
    """Axes that a factor could be given.

    Attributes:
      factor: the factor.
      axes: its axes, as far as they are still free.
      precedence: of the factor's type; the greater, the better.
      source_size: the elements of all tensors together that have the factor sharded so.
      parts: into how many parts the axes split what is not split yet.

    """

    factor: int
    axes: Axes
    precedence: int
    source_size: int
    parts: int

    def rank(self) -> tuple[int, int, int, int, int, Axes]:
        """Return what the greatest candidate has the greatest of."""
        count = len(self.axes)
        return self.source_size, self.precedence, self.parts, self.factor, count, self.axes

    def cut_back(self, factor: int, axes: Axes, chosen: Sequence[Axes], mesh: Mesh) -> bool:
        """Adapt to the choice of `axes` for `factor`; return whether anything is left to gain."""
        given: Axes = ()
        if self.factor == factor:
            given = axes
            if not is_strict_prefix(given, self.axes):
                return False
        else:
            free = without_overlap(self.axes, axes)
            if free != self.axes:
                given, self.axes = chosen[self.factor], free
                if free == given:
                    return False
        # Where nothing was cut off, the reference counts the parts that are given already, too.
        self.parts = axes_size(self.axes, mesh) // axes_size(given, mesh)
        return True


def _candidates(
    projection: Projection, rule: OpShardingRule, sizes: Sequence[int], mesh: Mesh
) -> list[_Candidate]:
    sources = [
        (factor, sharding.axes, size)
        for size, tensor in zip(sizes, projection.tensors(), strict=True)
        for factor, sharding in tensor.factors.items()
    ]
    distinct = dict.fromkeys(
        (factor, axes[:count]) for factor, axes, _ in sources for count in range(1, len(axes) + 1)
    )
    return [
        _Candidate(
            factor,
            axes,
            _PRECEDENCE[rule.factor_type(factor)],
            sum(size for f, whole, size in sources if f == factor and is_prefix(axes, whole)),
            axes_size(axes, mesh),
        )
        for factor, axes in distinct
    ]


def _factors_before(rule: OpShardingRule) -> list[set[int]]:
    """Return for each factor those that stand right before it in some dimension.

    As long as one of them is not fully split, splitting the factor would need a strided view.
    """
    before: list[set[int]] = [set() for _ in rule.factor_sizes]
    for tensor in rule.tensors:
        for dimension in tensor.dimensions:
            for major, minor in zip(dimension.factors, dimension.factors[1:], strict=False):
                before[minor].add(major)
    return before
