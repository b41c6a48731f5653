"""The two strategies by which one op's shardings are made to agree.

Basic spreads only axes on which all tensors agree. Aggressive resolves conflicts: the factor
that comes from the larger tensor goes first. The ideas are Shardy's
`BasicFactorPropagation` and `AggressiveFactorPropagation`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

from sdy.dialect.axes import axes_size
from sdy.passes.propagation.compatible_axes import (
    compatible_major_axes,
    truncate_at_conflict,
)
from sdy.passes.propagation.projection import is_prefix, is_strict_prefix
from sdy.passes.propagation.step_case import Strategy

if TYPE_CHECKING:
    from sdy.dialect.mesh import Mesh
    from sdy.passes.propagation.direction import Direction
    from sdy.passes.propagation.projection import Axes, Projection, TensorFactors
    from sdy.passes.propagation.step_case import OpClass

__all__ = ["propagate_factors"]

AxesPerFactor: TypeAlias = "dict[int, Axes]"

_BASIC = Strategy.BASIC  # Kept, because a member of an enum is slow to look up.


def propagate_factors(
    strategy: Strategy,
    projection: Projection,
    factors: list[int],
    directions: tuple[Direction, ...],
    op: OpClass,
    mesh: Mesh,
) -> list[bool]:
    """Change `projection` in place; return for each tensor whether it changed.

    Args:
      strategy: which one.
      projection: the factor shardings of the op.
      factors: those along which there may be something to spread, in order.
      directions: for each factor of the op, where its axes may go.
      op: the class of the op.
      mesh: the mesh of the shardings.

    """
    propagate = _propagate_basic if strategy is _BASIC else _propagate_aggressive
    return propagate(projection, factors, directions, op, mesh)


def _propagate_basic(
    projection: Projection,
    factors: list[int],
    directions: tuple[Direction, ...],
    op: OpClass,
    mesh: Mesh,
) -> list[bool]:
    tensors = projection.tensors()
    changed = [False] * len(tensors)
    for factor in factors:
        axes = compatible_major_axes(projection, factor, directions[factor])
        axes = truncate_at_conflict(axes, factor, tensors, op, mesh, others_first=True)
        for index, tensor in enumerate(tensors):
            if tensor.expand(factor, axes):
                changed[index] = True
    return changed


def _propagate_aggressive(
    projection: Projection,
    factors: list[int],
    directions: tuple[Direction, ...],
    op: OpClass,
    mesh: Mesh,
) -> list[bool]:
    axes_per_factor: AxesPerFactor = {}
    for factor in factors:
        axes = compatible_major_axes(projection, factor, directions[factor])
        if axes:
            axes_per_factor[factor] = axes
    tensors = projection.tensors()
    changed = [False] * len(tensors)
    if not axes_per_factor:
        return changed
    order = _order_of_preference(projection, axes_per_factor, op, mesh)
    operand_count = len(projection.operands)
    for position in range(len(tensors)):
        index = (operand_count + position) % len(tensors)  # Results come first.
        tensor = tensors[index]
        for factor in order:
            axes = _axes_to_take(tensor, factor, axes_per_factor[factor], op, mesh)
            if op.is_elementwise and index < operand_count:
                axes = _axes_that_results_share(projection, factor, axes)
            if tensor.expand(factor, axes):
                changed[index] = True
    return changed


def _axes_to_take(tensor: TensorFactors, factor: int, axes: Axes, op: OpClass, mesh: Mesh) -> Axes:
    """Return `axes` as far as they may shard a factor of a tensor that they are new to."""
    sharding = tensor.factors.get(factor)
    if sharding is None or not is_strict_prefix(sharding.axes, axes):
        return ()
    return truncate_at_conflict(axes, factor, [tensor], op, mesh, others_first=False)


def _axes_that_results_share(projection: Projection, factor: int, axes: Axes) -> Axes:
    """Return `axes` as far as every result is sharded by them.

    An elementwise op should not shard one operand like another when its result is not.
    """
    for result in projection.results:
        sharding = result.factors.get(factor)
        if sharding is not None and is_strict_prefix(sharding.axes, axes):
            axes = sharding.axes
    return axes


def _order_of_preference(
    projection: Projection, axes_per_factor: AxesPerFactor, op: OpClass, mesh: Mesh
) -> list[int]:
    """Return the factors in the order in which they win conflicts.

    The larger the tensor that a factor's axes come from, the earlier; for an elementwise op,
    the more parts the earlier; then the earlier tensor, then the lower factor.
    """
    factors = list(axes_per_factor)
    if len(factors) < 2:
        return factors
    # Only factors that want parts of one axis can be in conflict: mostly there are none.
    names = [axis.name for axes in axes_per_factor.values() for axis in axes]
    if len(set(names)) == len(names):
        return factors
    sources = {f: _largest_source(projection, f, axes, op) for f, axes in axes_per_factor.items()}

    def preference(factor: int) -> tuple[int, int, int, int]:
        size, tensor = sources[factor]
        parts = axes_size(axes_per_factor[factor], mesh) if op.is_elementwise else 0
        return (-size, -parts, tensor, factor)

    return sorted(factors, key=preference)


def _largest_source(
    projection: Projection, factor: int, axes: Axes, op: OpClass
) -> tuple[int, int]:
    """Return the size and index of the largest tensor whose sharding begins with `axes`."""
    best = (-1, -1)
    for index, tensor in enumerate(projection.tensors()):
        sharding = tensor.factors.get(factor)
        if sharding is None or not is_prefix(axes, sharding.axes):
            continue
        size = math.prod(op.rule.factor_sizes[f] for f in tensor.factors)
        if size > best[0]:
            best = (size, index)
    return best
