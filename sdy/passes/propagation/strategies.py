"""The two strategies by which one op's shardings are made to agree.

Basic spreads only axes on which all tensors agree. Aggressive resolves conflicts: the factor
that comes from the larger tensor goes first. The ideas are Shardy's
`BasicFactorPropagation` and `AggressiveFactorPropagation`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from sdy.dialect.axes import AxisRef, axes_size
from sdy.passes.propagation.compatible_axes import (
    compatible_major_axes,
    compatible_sharding_axes,
    prefix_free_of_other_factors,
    prefix_that_factor_admits,
    truncate_at_conflict,
)
from sdy.passes.propagation.projection import is_prefix, is_strict_prefix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding_rule import OpShardingRule
    from sdy.passes.propagation.direction import Direction
    from sdy.passes.propagation.projection import Axes, Projection, TensorFactors

__all__ = ["Strategy", "propagate_factors"]


class Strategy(Enum):
    """How conflicts between the tensors of an op are met."""

    BASIC = "basic"
    AGGRESSIVE = "aggressive"


@dataclass(frozen=True, slots=True)
class _Op:
    """What a strategy knows of the op."""

    rule: OpShardingRule
    mesh: Mesh
    is_elementwise: bool
    conservative: bool


def propagate_factors(
    strategy: Strategy,
    projection: Projection,
    directions: Sequence[Direction],
    rule: OpShardingRule,
    mesh: Mesh,
    *,
    is_elementwise: bool,
    conservative: bool,
) -> list[bool]:
    """Change `projection` in place; return for each tensor whether it changed.

    Args:
      strategy: which one.
      projection: the factor shardings of the op.
      directions: for each factor, where its axes may go.
      rule: the op's rule.
      mesh: the mesh of the shardings.
      is_elementwise: whether the op counts as elementwise.
      conservative: whether sub-axes are not to be made.

    """
    op = _Op(rule, mesh, is_elementwise, conservative)
    if strategy is Strategy.BASIC:
        return _propagate_basic(projection, directions, op)
    return _propagate_aggressive(projection, directions, op)


def _propagate_basic(
    projection: Projection, directions: Sequence[Direction], op: _Op
) -> list[bool]:
    tensors = list(projection.tensors())
    changed = [False] * len(tensors)
    for factor, direction in enumerate(directions):
        axes = compatible_sharding_axes(
            projection,
            factor,
            direction,
            op.rule.factor_sizes,
            op.mesh,
            conservative=op.conservative,
        )
        for index, tensor in enumerate(tensors):
            changed[index] |= tensor.expand(factor, axes)
    return changed


def _propagate_aggressive(
    projection: Projection, directions: Sequence[Direction], op: _Op
) -> list[bool]:
    operand_count = len(projection.operands)
    changed = [False] * (operand_count + len(projection.results))
    axes_per_factor = [
        compatible_major_axes(projection, factor, direction)
        for factor, direction in enumerate(directions)
    ]
    if not any(axes_per_factor):
        return changed
    order = _order_of_preference(projection, axes_per_factor, op)
    for index, tensor in enumerate(projection.results, operand_count):
        for factor in order:
            changed[index] |= tensor.expand(
                factor, _axes_free_of_conflict(tensor, factor, axes_per_factor[factor], op)
            )
    for index, tensor in enumerate(projection.operands):
        for factor in order:
            axes = _axes_free_of_conflict(tensor, factor, axes_per_factor[factor], op)
            if axes and op.is_elementwise:
                axes = _axes_that_results_share(projection, factor, axes)
            changed[index] |= tensor.expand(factor, axes)
    return changed


def _axes_that_results_share(projection: Projection, factor: int, axes: Axes) -> Axes:
    """Return `axes` as far as every result is sharded by them.

    An elementwise op should not shard one operand like another when its result is not.
    """
    for result in projection.results:
        sharding = result.factors.get(factor)
        if sharding is not None and is_strict_prefix(sharding.axes, axes):
            axes = sharding.axes
    return axes


def _axes_free_of_conflict(tensor: TensorFactors, factor: int, axes: Axes, op: _Op) -> Axes:
    """Return by what `tensor` can be sharded along `factor` as it stands; none if by no more."""
    sharding = tensor.factors.get(factor)
    if sharding is None or not is_strict_prefix(sharding.axes, axes):
        return ()
    factor_size = op.rule.factor_sizes[factor]

    def within_factor(axis: AxisRef, sharded_size: int) -> AxisRef | None:
        return prefix_that_factor_admits(axis, tensor, sharding, sharded_size, factor_size, op.mesh)

    def across_factors(axis: AxisRef, _: int) -> AxisRef | None:
        return prefix_free_of_other_factors(axis, tensor.factors, factor)

    axes = truncate_at_conflict(axes, within_factor, op.mesh, conservative=op.conservative)
    if not is_strict_prefix(sharding.axes, axes):
        return ()
    return truncate_at_conflict(axes, across_factors, op.mesh, conservative=op.conservative)


def _order_of_preference(
    projection: Projection, axes_per_factor: Sequence[Axes], op: _Op
) -> list[int]:
    """Return the factors in the order in which they win conflicts.

    The larger the tensor that a factor's axes come from, the earlier; for an elementwise op,
    the more parts the earlier; then the earlier tensor, then the lower factor.
    """
    sources = [_largest_source(projection, f, axes, op) for f, axes in enumerate(axes_per_factor)]

    def preference(factor: int) -> tuple[int, int, int, int]:
        size, tensor = sources[factor]
        parts = axes_size(axes_per_factor[factor], op.mesh) if op.is_elementwise else 0
        return (-size, -parts, tensor, factor)

    return sorted(range(len(axes_per_factor)), key=preference)


def _largest_source(projection: Projection, factor: int, axes: Axes, op: _Op) -> tuple[int, int]:
    """Return the size and index of the largest tensor whose sharding begins with `axes`."""
    best = (-1, -1)
    for index, tensor in enumerate(projection.tensors()):
        sharding = tensor.factors.get(factor)
        if sharding is None or not axes or not is_prefix(axes, sharding.axes):
            continue
        size = math.prod(op.rule.factor_sizes[f] for f in tensor.factors)
        if size > best[0]:
            best = (size, index)
    return best
