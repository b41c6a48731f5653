"""Dots in groups of devices along summed dimensions, whose results are then summed up."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sdy.explain.partitioner.dot_case import Summing
from sdy.explain.partitioner.dot_dims import LEFT, OUT, RIGHT
from sdy.explain.partitioner.grouped_tiling import (
    GroupedTiling,
    grouped_on,
    matching_dimensions,
    with_whole_tensors,
)
from sdy.explain.partitioner.tiling import Tiling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.explain.partitioner.dot_case import DotCase, Partition, Steps
    from sdy.explain.partitioner.dot_dims import DotDim

__all__ = ["group_on_summed"]


def group_on_summed(dot: DotCase, partition: Partition, *, in_place: bool) -> Steps | None:
    """Return the steps in groups along summed dimensions (`PartitionDotGroupOnContracting`)."""
    left, right = dot.sums_split(LEFT), dot.sums_split(RIGHT)
    if left == right > 1:
        found = _in_groups_of_sums(dot, dot.dims.summed, partition, in_place=in_place)
        if found is not None:
            return found
    if left > 1 and right > 1:
        counts = dot.left.tiling.dims, dot.right.tiling.dims
        dims = tuple(d for d in dot.dims.summed if 1 < counts[LEFT][d.left] == counts[RIGHT][d[1]])
        if dims:
            return _in_groups_of_sums(dot, dims, partition, in_place=in_place)
    return None


def _in_groups_of_sums(
    dot: DotCase, dims: Sequence[DotDim], partition: Partition, *, in_place: bool
) -> Steps | None:
    """Return the steps in groups along these summed dimensions."""
    moved = RIGHT if dot.left.local_bytes > dot.right.local_bytes else LEFT
    counts = list(dot.operands[moved].tiling.dims)
    for dim in dims:
        counts[dim[moved]] = dot.operands[1 - moved].tiling.dims[dim[1 - moved]]
    tilings = [dot.left.tiling, dot.right.tiling]
    tilings[moved] = tilings[moved].reshaped(counts)
    grouped = [grouped_on(tilings[side], [d[side] for d in dims]) for side in (LEFT, RIGHT)]
    grouped[moved] = grouped[moved].aligned(grouped[1 - moved])
    target = grouped[moved].ungrouped()
    if in_place and dot.operands[moved].tiling != target:
        return None
    dot = dot.resharded(moved, target)
    wanted, slices = _group_out(dot, grouped)
    summing = _summing(dot, grouped[LEFT], [d.left for d in dims], wanted, slices)
    groups = grouped[LEFT].groups
    if wanted is None:
        whole = Tiling.whole(len(dot.out.shape), len(groups[0]))
        result = dot.out.at(dot.out.replicated)
        inside = result.within(with_whole_tensors(grouped[LEFT].groups, whole))
    else:
        result = dot.out.at(wanted.ungrouped())
        inside = replace(result.within(wanted), scope=result.expanded(groups))
    operands = dot.left.within(grouped[LEFT]), dot.right.within(grouped[RIGHT])
    steps = partition(replace(dot, operands=operands, out=inside, sums=(*dot.sums, summing)))
    return (*steps, *result.resharded(dot.out.tiling).steps)


def _summing(
    dot: DotCase,
    grouped: GroupedTiling,
    dims: Sequence[int],
    wanted: GroupedTiling | None,
    slices: Sequence[int],
) -> Summing:
    """Return how the parts of the groups are summed up."""
    if wanted is None or not slices:
        return Summing(dot.left.expanded(grouped.ungrouped().groups(dims)))
    tiling, rank = wanted.ungrouped(), len(dot.out.shape)
    cut = tuple(tiling.dims[dim] if dim in slices else 1 for dim in range(rank))
    rest: tuple[tuple[int, ...], ...] = ()
    if rank in wanted.dims and len(slices) < len(wanted.dims):
        replicas = tiling.array().reshape(-1, tiling.replicas)
        rest = dot.out.expanded(tuple(map(tuple, replicas.tolist())))
    return Summing(dot.out.expanded(tiling.groups(slices)), cut, rest)


def _group_out(
    dot: DotCase, grouped: Sequence[GroupedTiling]
) -> tuple[GroupedTiling | None, list[int]]:
    """Return the result by groups of the sum, and the dimensions that the sum is sliced along.

    (`GetDotGroupPartitionContractingOutputShardings`)
    """
    count, rank = len(grouped[LEFT].groups), len(dot.out.shape)
    tiling = _coarser_out(dot, grouped)
    if tiling.is_partial and tiling.replicas % count == 0:
        found = grouped_on(tiling, [rank], [tiling.replicas // count])
        return found.aligned(grouped[LEFT], in_any_order=True), []
    dims = matching_dimensions(tiling, grouped[LEFT].groups)
    if dims is not None:
        return (grouped_on(tiling, dims) if dims else None), [d for d in dims if d < rank]
    if tiling.is_replicated:
        return None, []
    for each in (dot.dims.free[LEFT], dot.dims.free[RIGHT], dot.dims.batch):
        if math.prod(dot.out.tiling.dims[dim.out] for dim in each) == count:
            dims = tuple(dim.out for dim in each)
            return grouped_on(tiling, dims).aligned(grouped[LEFT]), list(dims)
    return None, []


def _coarser_out(dot: DotCase, grouped: Sequence[GroupedTiling]) -> Tiling:
    """Return the tiling of the result that one operand gives, if the wanted one refines it."""
    tiling, count = dot.out.tiling, len(grouped[LEFT].groups)
    whole = [each.inner.is_replicated for each in grouped]
    is_fit = tiling.is_partial and tiling.replicas % count == 0
    if tiling.is_replicated or is_fit or whole[LEFT] == whole[RIGHT]:
        return tiling
    side = RIGHT if whole[LEFT] else LEFT
    given = dot.dims.carried(grouped[side].ungrouped(), side, OUT)
    if any(fine % coarse for fine, coarse in zip(tiling.dims, given.dims, strict=True)):
        return tiling
    factors = np.asarray(tiling.dims) // np.asarray(given.dims)
    is_finer = (tiling.tile_indices() // factors == given.tile_indices()).all()
    return given if is_finer else tiling
