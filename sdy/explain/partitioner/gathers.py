"""Gathers and scatters: split as the slices are, the indices by axes that are left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.dialect.axes import AxisRef
from sdy.explain.partitioner.factor_axes import axes_of_result, without
from sdy.explain.partitioner.op_case import (
    Axes,
    OpCase,
    OpExchange,
    carry_out,
    factors_of,
    reshard_tensor,
    sharding_by_factors,
)
from sdy.passes.propagation.projection import is_prefix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.dialect.sharding_rule import OpShardingRule

__all__ = ["split_gather"]


def split_gather(case: OpCase, rule: OpShardingRule) -> tuple[OpExchange, ...]:
    """Return the exchanges of a gather, or of a scatter to one tensor.

    Slices are split as the operand is. Axes that split both the slices and the indices are left
    to the slices. The indices are then split by as many other devices, by which the places that
    they name cannot be split.
    """
    axes = axes_of_result(case, rule)
    if len(case.operands) > 3:
        return carry_out(case, rule, axes)
    # The slices are the result of a gather, and the updates of a scatter.
    source, indices, slices = (factors_of(case, rule, index).factors for index in range(3))
    within = [factor for factor in source if factor in slices and factor not in indices]
    places = [factor for factor in source if factor not in slices]
    by_place = [source[factor].axes for factor in places]
    for factor in within:
        axes[factor] = source[factor].axes or without(axes[factor], by_place)
    kept = [axes[factor] for factor in within]
    idle = _idle(case, [*(sharding.axes for sharding in indices.values()), *kept])
    for factor, sharding in indices.items():
        if factor not in slices:
            continue
        if is_prefix(axes[factor], sharding.axes):
            axes[factor] = sharding.axes
        if without(axes[factor], kept) != axes[factor]:
            replaced = _replaced(sharding.axes, kept, idle, case)
            axes[factor] = without(axes[factor], kept) if replaced is None else replaced
    used = [*kept, *(axes[factor] for factor in indices)]
    for factor, split in zip(places, by_place, strict=True):
        axes[factor] = without(split, used)
    return _by_slices(case, rule, axes, within)


def _by_slices(
    case: OpCase, rule: OpShardingRule, axes: list[Axes], within: Sequence[int]
) -> tuple[OpExchange, ...]:
    """Return the exchanges; a result that needs the axes of the slices elsewhere is gathered first.

    What it is then is split as the slices are, and in no other way.
    """
    found = carry_out(case, rule, axes)
    result, count = case.results[0], len(case.operands)
    kept = [axes[factor] for factor in within]
    wanted = factors_of(case, rule, count).factors
    if not any(
        without(sharding.axes, kept) != sharding.axes
        for factor, sharding in wanted.items()
        if factor not in within
    ):
        return found
    alone = [each if factor in within else () for factor, each in enumerate(axes)]
    computed = sharding_by_factors(case, rule, count, axes)
    between = sharding_by_factors(case, rule, count, alone)
    return (
        *(exchange for exchange in found if exchange.role != "result"),
        *reshard_tensor("result", 0, result, computed, between),
        *reshard_tensor("result", 0, result, between, result.sharding),
    )


def _idle(case: OpCase, used: Sequence[Axes]) -> list[AxisRef]:
    """Return the axes of the mesh of which no part is used."""
    axes = (AxisRef(axis.name) for axis in case.mesh.axes)
    return [axis for axis in axes if not _overlaps(axis, used)]


def _overlaps(axis: AxisRef, used: Sequence[Axes]) -> bool:
    return any(axis.overlaps(other) for each in used for other in each)


def _replaced(axes: Axes, kept: list[Axes], idle: list[AxisRef], case: OpCase) -> Axes | None:
    """Return axes with idle ones as large for those that are kept; None if there are none."""
    found: list[AxisRef] = []
    for axis in axes:
        if _overlaps(axis, kept):
            fitting = [other for other in idle if other.size(case.mesh) == axis.size(case.mesh)]
            if not fitting:
                return None
            idle.remove(fitting[0])
            axis = fitting[0]
        found.append(axis)
    return tuple(found)
