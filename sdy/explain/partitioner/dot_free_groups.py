"""Dots in groups of devices along dimensions of one operand and the result."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from sdy.explain.partitioner.dot_dims import LEFT, OUT, RIGHT, merged
from sdy.explain.partitioner.grouped_tiling import (
    GroupedTiling,
    grouped_by_replicas,
    grouped_on,
    matching_dimensions,
    with_whole_tensors,
)
from sdy.explain.partitioner.tiling import Tiling

if TYPE_CHECKING:
    from sdy.explain.partitioner.dot_case import DotCase, Partition, Steps
    from sdy.explain.partitioner.dot_dims import DotDim
    from sdy.explain.partitioner.held_tensor import HeldTensor

__all__ = ["group_on_free"]


def group_on_free(dot: DotCase, partition: Partition, *, in_place: bool) -> Steps | None:
    """Return the steps in groups along dimensions of one operand and the result.

    (`PartitionDotGroupOnNonContracting`)
    """
    found = _matching_free_dims(dot)
    if found is None:
        return None
    side, dims = found
    tensor, counts = dot.operands[side], list(dot.operands[side].tiling.dims)
    for dim in dims:
        counts[dim[side]] = dot.out.tiling.dims[dim.out]
    out = grouped_on(dot.out.tiling, [dim.out for dim in dims])
    grouped = grouped_on(tensor.tiling.reshaped(counts), [dim[side] for dim in dims]).aligned(out)
    target = grouped.ungrouped()
    if in_place and tensor.tiling != target:
        return None
    other = _other_within(dot, side, out)
    return partition(
        replace(
            dot.given(side, tensor.resharded(target).within(grouped)).given(1 - side, other),
            out=dot.out.within(out),
        )
    )


def _matching_free_dims(dot: DotCase) -> tuple[int, tuple[DotDim, ...]] | None:
    """Return the operand, and its dimensions that the result splits like it."""
    fits = [dot.frees(side, side) == dot.frees(side, OUT) > 1 for side in (LEFT, RIGHT)]
    if all(fits):
        # The one whose partner is less to gather.
        is_left = (
            dot.frees(LEFT, LEFT) * dot.right.local_bytes
            < dot.frees(RIGHT, RIGHT) * dot.left.local_bytes
        )
        side = LEFT if is_left else RIGHT
        return side, dot.dims.free[side]
    if any(fits):
        side = LEFT if fits[LEFT] else RIGHT
        return side, dot.dims.free[side]
    for side in (LEFT, RIGHT):
        if dot.frees(side, side) > 1 and dot.frees(side, OUT) > 1:
            counts, wanted = dot.operands[side].tiling.dims, dot.out.tiling.dims
            dims = tuple(d for d in dot.dims.free[side] if 1 < counts[d[side]] == wanted[d.out])
            return (side, dims) if dims else None
    return None


def _other_within(dot: DotCase, side: int, out: GroupedTiling) -> HeldTensor:
    """Return the other operand within the groups, each of which has all that it needs of it."""
    other = dot.operands[1 - side]
    grouped = _group_other(dot, side, other, out)
    if grouped is None and not other.tiling.is_replicated:
        expected = _expected_other(dot, side)
        candidate = other.resharded(expected)
        grouped = _group_other(dot, side, candidate, out)
        other = candidate if grouped else other
    if grouped is None:
        other = other.resharded(other.replicated)
        whole = Tiling.whole(len(other.shape), len(out.groups[0]))
        return other.within(with_whole_tensors(out.groups, whole))
    if not grouped.is_on_replicas_alone:
        target = grouped.ungrouped()
        has_groups = grouped_on(target, grouped.dims).has_groups_of(grouped)
        if not (other.tiling.is_partial and has_groups):
            other = other.resharded(target)
        other = other.resharded(
            other.tiling.without([dim for dim in grouped.dims if dim < grouped.rank])
        )
    else:
        other = other.resharded(grouped.ungrouped())
    return other.within(with_whole_tensors(out.groups, grouped.inner))


def _expected_other(dot: DotCase, side: int) -> Tiling:
    """Return what the result and one operand say of the other (`InferDotOperandSharding`)."""
    by_out, by_side = dot.carried(OUT, 1 - side), dot.carried(side, 1 - side)
    both = merged(by_out, by_side)
    if both is not None:
        return both
    return by_side if math.prod(by_side.dims) > math.prod(by_out.dims) else by_out


def _group_other(
    dot: DotCase, side: int, other: HeldTensor, out: GroupedTiling
) -> GroupedTiling | None:
    """Return the other operand by groups of the result; None where it has none like them."""
    tiling, count = other.tiling, len(out.groups)
    rank = len(tiling.dims)
    if tiling.is_partial and tiling.replicas % count == 0:
        found = _group_replicas(tiling, out)
        if found is not None:
            return found
        dims: tuple[int, ...] | None = (rank,)
    else:
        dims = _dims_to_group(dot, side, other, out)
    if dims is None or tiling.is_replicated:
        return None
    last = rank if tiling.is_partial else rank - 1
    counts = (*tiling.dims, tiling.replicas)
    left = [counts[last] // count] if dims == (last,) else None
    return grouped_on(tiling, dims, left).aligned(out, in_any_order=True)


def _group_replicas(tiling: Tiling, out: GroupedTiling) -> GroupedTiling | None:
    """Return groups of whole tensors, perhaps after a dimension took the place of the replicas."""
    rank, count = len(tiling.dims), len(out.groups)
    for dim in (rank, *reversed(range(rank))):
        if (*tiling.dims, tiling.replicas)[dim] % count:
            continue
        order = list(range(rank + 1))
        order[dim], order[rank] = order[rank], order[dim]
        array = tiling.array().transpose(order)
        found = grouped_by_replicas(Tiling.of(array.shape[:-1], array), out.groups)
        if found is not None:
            return found
    return None


def _dims_to_group(
    dot: DotCase, side: int, other: HeldTensor, out: GroupedTiling
) -> tuple[int, ...] | None:
    """Return dimensions of the other operand to make groups of and gather."""
    count = len(out.groups)
    summed = dot.sums_split(1 - side)
    free = math.prod(other.tiling.dims[d[1 - side]] for d in dot.dims.free[1 - side])
    found = matching_dimensions(other.tiling, out.groups)
    if found is not None:
        return found
    may_gather_summed = summed == count and free == dot.frees(1 - side, OUT)
    may_gather_free = free == count and dot.sums_split(side) == summed
    if may_gather_summed and not (may_gather_free and other.local_bytes > dot.out.local_bytes):
        return tuple(dim[1 - side] for dim in dot.dims.summed)
    if may_gather_free:
        return tuple(dim[1 - side] for dim in dot.dims.free[1 - side])
    return None
