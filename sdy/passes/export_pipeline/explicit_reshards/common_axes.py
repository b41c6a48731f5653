"""The axes of each factor on which all tensors of an op will agree.

The rules by which the tensors that need not be resharded are chosen are Shardy's.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from sdy.dialect.axes import axes_size, join_axes
from sdy.passes.export_pipeline.explicit_reshards.axis_choice import choose_axes, without_overlap

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding_rule import OpShardingRule
    from sdy.passes.propagation.projection import Projection, TensorFactors

__all__ = ["AxesPerFactor", "common_axes", "common_axes_of_factor", "set_axes", "sharded_size"]

Axes = tuple["AxisRef", ...]
AxesPerFactor = list[Axes]


def common_axes(
    projection: Projection, rule: OpShardingRule, sizes: Sequence[int], mesh: Mesh
) -> AxesPerFactor:
    """Return for each factor the axes by which all tensors are to be sharded.

    Args:
      projection: the factor shardings as they are.
      rule: the op's rule.
      sizes: how many elements each operand, then each result, has.
      mesh: the mesh of the shardings.

    """
    agreed = _axes_agreed_on(projection, rule)
    if agreed is not None:
        return agreed
    if _is_unary(rule):
        return _axes_of_preferred_tensor(projection, rule, sizes, mesh)
    chosen = choose_axes(projection, rule, sizes, mesh)
    _move_to_batching_factors(chosen, rule, mesh)
    return chosen


def common_axes_of_factor(projection: Projection, factor: int) -> Axes | None:
    """Return the axes by which all tensors with `factor` shard it; None where they differ."""
    shardings = (tensor.factors.get(factor) for tensor in projection.tensors())
    found = {sharding.axes for sharding in shardings if sharding is not None}
    if len(found) > 1:
        return None
    return found.pop() if found else ()


def sharded_size(tensor: TensorFactors, mesh: Mesh) -> int:
    """Return into how many parts a tensor is split."""
    axes = chain.from_iterable(f.axes + f.overflow for f in tensor.factors.values())
    return axes_size(axes, mesh)


def set_axes(tensor: TensorFactors, factor: int, axes: Axes) -> bool:
    """Shard a factor of a tensor by `axes` alone; return whether that changes anything."""
    sharding = tensor.factors.get(factor)
    if sharding is None or (sharding.axes == axes and not sharding.overflow):
        return False
    sharding.axes, sharding.overflow = axes, ()
    return True


def _axes_agreed_on(projection: Projection, rule: OpShardingRule) -> AxesPerFactor | None:
    """Return the axes of each factor where nothing needs a reshard; None where something does."""
    agreed: AxesPerFactor = []
    used: list[AxisRef] = []
    for factor in range(rule.factor_count):
        axes = common_axes_of_factor(projection, factor)
        if axes is None or (axes and factor in rule.need_replication) or _overlap(axes, used):
            return None
        agreed.append(axes)
        used += axes
    return agreed


def _overlap(first: Iterable[AxisRef], second: Sequence[AxisRef]) -> bool:
    return any(a.overlaps(b) for a in first for b in second)


def _is_unary(rule: OpShardingRule) -> bool:
    """Return whether just two tensors have dimensions, each of one factor that may be split."""
    return (
        len(_tensors_with_dimensions(rule)) == 2
        and not rule.need_replication
        and all(len(d.factors) <= 1 for tensor in rule.tensors for d in tensor.dimensions)
    )


def _tensors_with_dimensions(rule: OpShardingRule) -> list[int]:
    return [index for index, tensor in enumerate(rule.tensors) if tensor.dimensions]


def _axes_of_preferred_tensor(
    projection: Projection, rule: OpShardingRule, sizes: Sequence[int], mesh: Mesh
) -> AxesPerFactor:
    """Return the axes of one of two tensors, and what else the other one's own factors can have.

    Preferred is a tensor without split permutation factors, then the larger one, then the one
    that is split into more parts, then the operand.
    """
    tensors = list(projection.tensors())

    def preference(index: int) -> tuple[bool, int, int]:
        factors = tensors[index].factors
        is_permuted = any(factors[f].axes for f in rule.permutation if f in factors)
        return not is_permuted, sizes[index], sharded_size(tensors[index], mesh)

    first, second = _tensors_with_dimensions(rule)
    if preference(first) < preference(second):
        first, second = second, first
    preferred, other = tensors[first].factors, tensors[second].factors
    axes: AxesPerFactor = [()] * rule.factor_count
    for factor, sharding in preferred.items():
        axes[factor] = sharding.axes
    used = [axis for sharding in preferred.values() for axis in sharding.axes]
    for factor, sharding in other.items():
        if factor not in preferred:
            axes[factor] = without_overlap(sharding.axes, used)
    return axes


def _move_to_batching_factors(axes: AxesPerFactor, rule: OpShardingRule, mesh: Mesh) -> None:
    """Take the axes from factors that may not be split; split batching factors by them instead.

    Axes of a factor that not all tensors have are lost.
    """
    for factor in rule.need_replication:
        moved, axes[factor] = axes[factor], ()
        if moved and rule.is_in_all_tensors(factor):
            _append_to_batching_factors(moved, axes, rule, mesh)


def _append_to_batching_factors(
    moved: Axes, axes: AxesPerFactor, rule: OpShardingRule, mesh: Mesh
) -> None:
    left = list(moved)
    for factor, size in enumerate(rule.factor_sizes):
        parts = axes_size(axes[factor], mesh)
        if not rule.is_batching_factor(factor) or not size or size % parts:
            continue
        capacity = size // parts
        while left and capacity % left[0].size(mesh) == 0:
            capacity //= left[0].size(mesh)
            axes[factor] = join_axes(axes[factor], (left.pop(0),), mesh)
