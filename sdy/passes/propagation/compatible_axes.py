"""Which axes the tensors of an op agree on for a factor, and where they come into conflict.

The idea is Shardy's `BasicFactorPropagation`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sdy.dialect.axes import AxisRef, prefix_without_overlap
from sdy.passes.propagation.direction import Direction

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sdy.dialect.mesh import Mesh
    from sdy.passes.propagation.projection import (
        Axes,
        FactorSharding,
        Projection,
        TensorFactors,
    )

__all__ = [
    "compatible_major_axes",
    "compatible_sharding_axes",
    "prefix_free_of_other_factors",
    "prefix_that_factor_admits",
    "truncate_at_conflict",
]


def compatible_major_axes(projection: Projection, factor: int, direction: Direction) -> Axes:
    """Return the axes on which all tensors agree for `factor`, conflicts left aside.

    Tensors that `direction` does not start from can shorten the list, not extend it.
    """
    if direction == Direction.NONE:
        return ()
    first, second = projection.operands, projection.results
    if direction == Direction.BACKWARD:
        first, second = second, first
    axes: Axes = ()
    can_expand = True
    for tensor in first:
        axes, can_expand = _agree(axes, tensor, factor, can_expand)
    can_expand = can_expand and direction == Direction.BOTH
    for tensor in second:
        axes, can_expand = _agree(axes, tensor, factor, can_expand)
    return axes


def _agree(axes: Axes, tensor: TensorFactors, factor: int, can_expand: bool) -> tuple[Axes, bool]:
    sharding = tensor.factors.get(factor)
    if sharding is None:
        return axes, can_expand
    return _common_axes(axes, sharding.axes, can_expand)


def _common_axes(old: Axes, new: Axes, can_expand: bool) -> tuple[Axes, bool]:
    """Return the axes that both lists begin with, and whether the result may still grow.

    Where one list goes on after the other ends, the longer one is taken: `old`'s always,
    `new`'s only if `can_expand`. An axis that is a strict prefix of the other list's axis ends
    the agreement unless its own list ends with it: a following axis would be in conflict.
    """
    common: list[AxisRef] = []
    for index, (old_axis, new_axis) in enumerate(zip(old, new, strict=False)):
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
    remove_conflict: Callable[[AxisRef, int], AxisRef | None],
    mesh: Mesh,
    *,
    conservative: bool,
) -> Axes:
    """Return `axes` up to the first in conflict, of which a free prefix is kept.

    `remove_conflict` gets an axis and the product of the sizes of the axes before it, and
    returns the part that is free of conflict. With `conservative`, no sub-axis is kept.
    """
    sharded_size = 1
    for index, axis in enumerate(axes):
        kept = remove_conflict(axis, sharded_size)
        if kept is None or (conservative and kept.sub_axis is not None):
            return axes[:index]
        if kept != axis:
            return (*axes[:index], kept)
        sharded_size *= axis.size(mesh)
    return axes


def prefix_free_of_other_factors(
    axis: AxisRef, factors: Mapping[int, FactorSharding], factor: int
) -> AxisRef | None:
    """Return the part of `axis` that shards none of the tensor's other factors."""
    result: AxisRef | None = axis
    for other, sharding in factors.items():
        if other != factor and result is not None:
            result = prefix_without_overlap(result, sharding.overflow + sharding.axes)
    return result


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
    free = prefix_without_overlap(axis, tensor.replicated + tensor.unreduced)
    if free is None or any(own.contains(free) for own in sharding.axes):
        return free
    if not sharding.is_closed and not sharding.overflow:
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


def compatible_sharding_axes(
    projection: Projection,
    factor: int,
    direction: Direction,
    factor_sizes: Sequence[int],
    mesh: Mesh,
    *,
    conservative: bool,
) -> Axes:
    """Return the axes by which all tensors can be sharded along `factor` without conflict."""
    factor_size = factor_sizes[factor]

    def remove_conflict(axis: AxisRef, sharded_size: int) -> AxisRef | None:
        result: AxisRef | None = axis
        for tensor in projection.tensors():
            if result is None:
                return None
            result = prefix_free_of_other_factors(result, tensor.factors, factor)
            sharding = tensor.factors.get(factor)
            if sharding is not None and result is not None:
                result = prefix_that_factor_admits(
                    result, tensor, sharding, sharded_size, factor_size, mesh
                )
        return result

    axes = compatible_major_axes(projection, factor, direction)
    return truncate_at_conflict(axes, remove_conflict, mesh, conservative=conservative)
