"""Dots in groups of devices along batch dimensions."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from sdy.explain.partitioner.dot_dims import LEFT, OUT, RIGHT
from sdy.explain.partitioner.grouped_tiling import (
    GroupedTiling,
    grouped_on,
)
from sdy.explain.partitioner.tiling import Tiling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.explain.partitioner.dot_case import DotCase, Partition, Steps
    from sdy.explain.partitioner.held_tensor import HeldTensor

__all__ = ["group_on_batch"]


def group_on_batch(dot: DotCase, partition: Partition, *, in_place: bool) -> Steps | None:
    """Return the steps in groups along batch dimensions (`PartitionDotGroupOnBatch`)."""
    wanted = dot.batches(OUT)
    if wanted == 1 or wanted not in (dot.batches(LEFT), dot.batches(RIGHT)):
        return None
    dims = [[dim[tensor] for dim in dot.dims.batch] for tensor in (LEFT, RIGHT, OUT)]
    if _is_alike(dot, dims, in_place=in_place):
        operands, groups = _aligned_operands(dot, dims)
        counts = list(dot.out.tiling.dims)
        for dim in dot.dims.batch:
            counts[dim.out] = dot.left.tiling.dims[dim.left]
        out = grouped_on(dot.out.tiling.reshaped(counts), dims[OUT]).aligned(groups)
    else:
        out = grouped_on(dot.out.tiling, dims[OUT])
        left = _to_batches(dot, LEFT, out, in_place=in_place)
        right = _to_batches(dot, RIGHT, out, in_place=in_place)
        if left is None or right is None:
            return None
        operands = left, right
    result = dot.out.at(out.ungrouped())
    steps = partition(replace(dot, operands=operands, out=result.within(out)))
    return (*steps, *result.resharded(dot.out.tiling).steps)


def _is_alike(dot: DotCase, dims: Sequence[Sequence[int]], *, in_place: bool) -> bool:
    """Return whether both operands are split into as many batches, by the same devices if asked."""
    left, right = dot.left.tiling, dot.right.tiling
    if any(left.dims[dim.left] != right.dims[dim.right] for dim in dot.dims.batch):
        return False
    aligned = grouped_on(right, dims[RIGHT]).aligned(grouped_on(left, dims[LEFT]))
    return not in_place or aligned.ungrouped() == right


def _aligned_operands(
    dot: DotCase, dims: Sequence[Sequence[int]]
) -> tuple[tuple[HeldTensor, HeldTensor], GroupedTiling]:
    """Return the operands within the groups of the one that is larger, and its groups."""
    grouped = [grouped_on(dot.operands[side].tiling, dims[side]) for side in (LEFT, RIGHT)]
    moved = RIGHT if dot.left.local_bytes > dot.right.local_bytes else LEFT
    grouped[moved] = grouped[moved].aligned(grouped[1 - moved])
    dot = dot.resharded(moved, grouped[moved].ungrouped())
    inside = dot.left.within(grouped[LEFT]), dot.right.within(grouped[RIGHT])
    return inside, grouped[LEFT]


def _to_batches(
    dot: DotCase, side: int, out: GroupedTiling, *, in_place: bool
) -> HeldTensor | None:
    """Return an operand within the groups of the result; None where it does not fit them."""
    tensor = dot.operands[side]
    batch = tuple(dim[side] for dim in dot.dims.batch)
    tiling = tensor.tiling
    if tiling.is_replicated:
        whole = Tiling.whole(len(tiling.dims), len(out.groups[0]))
        return tensor.within(GroupedTiling(out.groups, batch, out.sizes, whole))
    counts = _counts_by_batches(dot, side)
    if counts is None:
        return None
    grouped = grouped_on(tiling.reshaped(counts), batch).aligned(out)
    target = grouped.ungrouped()
    if in_place and target != tiling:
        return None
    return tensor.resharded(target).within(grouped)


def _counts_by_batches(dot: DotCase, side: int) -> list[int] | None:
    """Return the tiles of an operand in the batches of the result, fewer elsewhere if need be."""
    tiling = dot.operands[side].tiling
    counts = list(tiling.dims)
    for dim in dot.dims.batch:
        counts[dim[side]] = dot.out.tiling.dims[dim.out]
    total, devices = math.prod(counts) * tiling.replicas, dot.num_devices
    if total > devices:
        if total % devices:
            return None
        ratio = total // devices
        free, summed = dot.frees(side, side), dot.sums_split(side)
        if tiling.is_partial and tiling.replicas % ratio == 0:
            return counts
        if ratio == free and (ratio != summed or summed == dot.sums_split(1 - side)):
            dropped = dot.dims.free[side]
        elif ratio == summed:
            dropped = dot.dims.summed
        else:
            return None
        for dim in dropped:
            counts[dim[side]] = 1
        total = math.prod(counts) * tiling.replicas
    return counts if total == devices else None
