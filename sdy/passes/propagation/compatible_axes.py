"""Which axes the tensors of an op agree on for a factor, and where they come into conflict.

The idea is Shardy's `BasicFactorPropagation`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from sdy.dialect.axes import AxisRef, prefix_without_overlap
from sdy.passes.propagation.direction import Direction

if TYPE_CHECKING:
    from sdy.dialect.mesh import Mesh
    from sdy.passes.propagation.projection import (
        Axes,
        FactorSharding,
        Projection,
        TensorFactors,
    )
    from sdy.passes.propagation.step_case import OpClass

__all__ = [
    "compatible_major_axes",
    "prefix_free_of_other_factors",
    "prefix_that_factor_admits",
    "truncate_at_conflict",
]

# Kept, because a member of an enum is slow to look up.
_NOWHERE: Final = Direction.NONE
_BACKWARD: Final = Direction.BACKWARD
_BOTH: Final = Direction.BOTH


def compatible_major_axes(projection: Projection, factor: int, direction: Direction) -> Axes:
    """Return the axes on which all tensors agree for `factor`, conflicts left aside.

    Tensors that `direction` does not start from can shorten the list, not extend it.
    """
    first, second = projection.operands, projection.results
    if direction is _BACKWARD:
        first, second = second, first
    axes: Axes = ()
    can_expand = direction is not _NOWHERE
    for tensors in (first, second):
        for tensor in tensors:
            sharding = tensor.factors.get(factor)
            if sharding is not None and sharding.axes != axes:
                axes, can_expand = _common_axes(axes, sharding.axes, can_expand)
        can_expand = can_expand and direction is _BOTH
    return axes


def _common_axes(old: Axes, new: Axes, can_expand: bool) -> tuple[Axes, bool]:
    """Return the axes that both lists begin with, and whether the result may still grow.

    Where one list goes on after the other ends, the longer one is taken: `old`'s always,
    `new`'s only if `can_expand`. An axis that is a strict prefix of the other list's axis ends
    the agreement unless its own list ends with it: a following axis would be in conflict.
    """
    if not old or not new:
        return old or (new if can_expand else ()), can_expand
    common: list[AxisRef] = []
    for index in range(min(len(old), len(new))):
        old_axis, new_axis = old[index], new[index]
        if new_axis == old_axis:
            common.append(old_axis)
        elif new_axis.is_prefix_of(old_axis):
            if index + 1 < len(new):
                return (*common, new_axis), False
            common.append(old_axis)
        elif old_axis.is_prefix_of(new_axis):
            if not can_expand or index + 1 < len(old):
                return (*common, old_axis), False
            common.append(new_axis)
        else:
            return tuple(common), False
    rest = old[len(common) :] + (new[len(common) :] if can_expand else ())
    return (*common, *rest), can_expand


def truncate_at_conflict(
    axes: Axes,
    factor: int,
    tensors: list[TensorFactors],
    op: OpClass,
    mesh: Mesh,
    *,
    others_first: bool,
) -> Axes:
    """Return `axes` up to the first by which one of `tensors` cannot be sharded along `factor`.

    Of that one a prefix that is free of conflict is kept, but no sub-axis if the op is
    conservative.

    Args:
      axes: those on which all tensors of an op agree.
      factor: the factor.
      tensors: the tensors to look for conflicts in.
      op: the class of the op.
      mesh: the mesh of the shardings.
      others_first: whether the other factors of a tensor cut an axis before the factor itself
        does: the outcome can differ where sizes are no powers of two.

    """
    factor_size = op.rule.factor_sizes[factor]
    sharded_size = 1
    for index, axis in enumerate(axes):
        if index:
            sharded_size *= axes[index - 1].size(mesh)
        kept: AxisRef | None = axis
        for tensor in tensors:
            sharding = tensor.factors.get(factor)
            if others_first and kept is not None:
                kept = prefix_free_of_other_factors(kept, tensor.factors, factor)
            if sharding is not None and kept is not None:
                kept = prefix_that_factor_admits(
                    kept, tensor, sharding, sharded_size, factor_size, mesh
                )
            if not others_first and kept is not None:
                kept = prefix_free_of_other_factors(kept, tensor.factors, factor)
        if kept is None or (op.conservative and kept.sub_axis is not None):
            return axes[:index]
        if kept is not axis and kept != axis:
            return (*axes[:index], kept)
    return axes


def prefix_free_of_other_factors(
    axis: AxisRef, factors: dict[int, FactorSharding], factor: int
) -> AxisRef | None:
    """Return the part of `axis` that shards none of the tensor's other factors."""
    part: AxisRef | None = axis
    for other, sharding in factors.items():
        if other == factor or part is None:
            continue
        if sharding.overflow:
            part = prefix_without_overlap(part, sharding.overflow + sharding.axes)
        elif sharding.axes:
            part = prefix_without_overlap(part, sharding.axes)
    return part


def prefix_that_factor_admits(
    axis: AxisRef,
    tensor: TensorFactors,
    sharding: FactorSharding,
    sharded_size: int,
    factor_size: int,
    mesh: Mesh,
) -> AxisRef | None:
    """Return the part of `axis` by which a factor of the tensor is or may be sharded.

    Not by axes that the tensor holds replicated or unreduced; not by new ones where the factor
    is closed; and a factor that is not minor-most only by what divides it.
    """
    free: AxisRef | None = axis
    if tensor.replicated or tensor.unreduced:
        free = prefix_without_overlap(axis, tensor.replicated + tensor.unreduced)
    if free is None:
        return None
    for own in sharding.axes:
        if own.contains(free):
            return free
    if sharding.may_grow:
        divisor = (
            free
            if sharding.is_minor_most
            else _dividing_prefix(free, sharded_size, factor_size, mesh)
        )
        if divisor is not None:
            return divisor
    # The tensor's axes and `axis` agree up to here: the last one may be a part of it.
    if sharding.axes and sharding.axes[-1].is_prefix_of(free):
        return sharding.axes[-1]
    return None


def _dividing_prefix(
    axis: AxisRef, sharded_size: int, factor_size: int, mesh: Mesh
) -> AxisRef | None:
    """Return the part of `axis` that divides what is left of a factor; None where none does."""
    if factor_size % sharded_size:
        return None
    size = axis.size(mesh)
    common = math.gcd(factor_size // sharded_size, size)
    if common == size:
        return axis
    return AxisRef.sub(axis.name, axis.pre_size, common) if common > 1 else None
