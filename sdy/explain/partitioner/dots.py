"""How XLA splits the work of a dot, and what is exchanged for it.

It looks for dimensions that two of the three tensors split alike: of the batch, free ones, then
summed ones. The devices are put in groups along them, and the dot goes on within the groups. It
first tries groups that are in place, then such as need a reshard. Where the groups have no more
in common, one tensor is brought to the tiling of another. The order is that of `PartitionDot`
in XLA's `dot_handler.cc`; loops of small dots (windowed einsums) are for tensors of many
megabytes only, and are left out.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from sdy.dialect.axes import AxisRef
from sdy.dialect.sharding import DimensionSharding, TensorSharding
from sdy.explain.partitioner.all_to_all_dims import all_to_all_dims
from sdy.explain.partitioner.dot_batch_groups import group_on_batch
from sdy.explain.partitioner.dot_case import DotCase, Summing
from sdy.explain.partitioner.dot_dims import LEFT, OUT, RIGHT, DotDims
from sdy.explain.partitioner.dot_free_groups import group_on_free
from sdy.explain.partitioner.dot_summed_groups import group_on_summed
from sdy.explain.partitioner.grouped_tiling import grouped_on, with_whole_tensors, within_groups
from sdy.explain.partitioner.held_tensor import HeldTensor
from sdy.explain.partitioner.tiling import Tiling, tiling_of

if TYPE_CHECKING:
    from sdy.dialect.sharding_rule import OpShardingRule
    from sdy.explain.partitioner.dot_case import Steps
    from sdy.explain.partitioner.op_case import OpCase
    from sdy.explain.partitioner.tiling import Groups

__all__ = ["split_dot"]


def split_dot(case: OpCase, rule: OpShardingRule) -> Steps:
    """Return the exchanges of a dot, in order."""
    left, right = (HeldTensor.of("operand", i, t) for i, t in enumerate(case.operands))
    out = HeldTensor.of("result", 0, case.results[0])
    if case.manual:
        groups = _groups_of_manual_axes(case)
        left, right, out = (t.within(within_groups(t.tiling, groups)) for t in (left, right, out))
    return _partition(DotCase(DotDims.of(rule), (left, right), out))


def _groups_of_manual_axes(case: OpCase) -> Groups:
    """Return the devices that have the same place along the manual axes, a group each."""
    along = tuple(AxisRef(axis.name) for axis in case.mesh.axes if axis.name in case.manual)
    split = tiling_of(TensorSharding(case.mesh, (DimensionSharding(along),)))
    return tuple(map(tuple, split.array().reshape(*split.dims, -1).tolist()))


def _partition(dot: DotCase) -> Steps:
    for in_place in (True, False):
        found = _partition_once(dot, in_place=in_place)
        if found is not None:
            return found
    for side in (LEFT, RIGHT):
        dot = dot.resharded(side, dot.carried(OUT, side))
    return dot.computed()


def _partition_once(dot: DotCase, *, in_place: bool) -> Steps | None:
    """Return the steps by groups, or without any; None where nothing fits."""
    found = _without_groups(dot, may_reshard=False)
    for group in (group_on_batch, group_on_free, group_on_summed):
        if found is None:
            found = group(dot, _partition, in_place=in_place)
    if found is None:
        found = _of_replicated_operands(dot)
    return _without_groups(dot, may_reshard=True) if found is None else found


def _of_replicated_operands(dot: DotCase) -> Steps | None:
    """Return the steps within the replicas of the result, if the operands are whole everywhere."""
    tilings = (dot.left.tiling, dot.right.tiling)
    if not (all(t.is_replicated for t in tilings) and dot.out.tiling.is_partial):
        return None
    grouped = grouped_on(dot.out.tiling, [len(dot.out.shape)])
    count = len(grouped.groups[0])
    left, right = (
        tensor.within(with_whole_tensors(grouped.groups, Tiling.whole(len(tensor.shape), count)))
        for tensor in dot.operands
    )
    return _partition(replace(dot, operands=(left, right), out=dot.out.within(grouped)))


def _without_groups(dot: DotCase, *, may_reshard: bool) -> Steps | None:
    """Return the steps where one kind of dimension takes all devices (`PartitionBaseCase`)."""
    if dot.out.tiling.is_partial:
        return None
    count = dot.num_devices
    if dot.batches(LEFT) == dot.batches(RIGHT) == count and dot.matches(LEFT, RIGHT):
        return dot.computed(as_=dot.carried(LEFT, OUT))
    found = _along_batches(dot, may_gather=False) or _along_batches(dot, may_gather=True)
    if found is not None:
        return found
    if dot.sums_split(LEFT) == dot.sums_split(RIGHT) == count:
        smaller = LEFT if dot.left.bytes < dot.right.bytes else RIGHT
        return _along_sums(dot.resharded(smaller, dot.carried(1 - smaller, smaller)))
    for side in (LEFT, RIGHT):
        if dot.frees(side, side) == dot.frees(side, OUT) == count and dot.matches(side, OUT):
            return dot.resharded(1 - side, dot.operands[1 - side].replicated).computed()
    if may_reshard and (found := _as_out(dot)) is not None:
        return found
    return _by_summing(dot) if dot.out.tiling.is_replicated else None


def _along_batches(dot: DotCase, *, may_gather: bool) -> Steps | None:
    """Return the steps where one operand and the result are split along batches alone."""
    count = dot.num_devices
    for side, other in ((LEFT, RIGHT), (RIGHT, LEFT)):
        if dot.batches(side) == dot.batches(OUT) == count and dot.matches(side, OUT):
            source, target = dot.operands[other].tiling, dot.carried(side, other)
            is_permutation = source.dims == target.dims and source != target
            if may_gather or is_permutation or all_to_all_dims(source, target):
                return dot.resharded(other, target).computed()
            return None
    return None


def _along_sums(dot: DotCase) -> Steps:
    """Return the steps where both operands are split along summed dimensions alone."""
    groups = dot.left.tiling.groups([dim.left for dim in dot.dims.summed])
    return dot.computed(Summing(dot.left.expanded(groups)), as_=dot.out.replicated)


def _as_out(dot: DotCase) -> Steps | None:
    """Return the steps where the operands are brought to what the result says of them."""
    count = dot.num_devices
    if dot.batches(OUT) == count:
        for side in (LEFT, RIGHT):
            dot = dot.resharded(side, dot.carried(OUT, side))
        return dot.computed()
    for side in (LEFT, RIGHT):
        if dot.frees(side, OUT) == count:
            dot = dot.resharded(side, dot.carried(OUT, side))
            return dot.resharded(1 - side, dot.operands[1 - side].replicated).computed()
    return None


def _by_summing(dot: DotCase) -> Steps | None:
    """Return the steps where one operand is split along summed dimensions, and is the largest."""
    for side in (RIGHT, LEFT):
        other = dot.operands[1 - side]
        elements = math.prod(dot.operands[side].shape)
        if (
            dot.sums_split(side) == dot.num_devices
            and other.tiling.is_replicated
            and elements > math.prod(dot.out.shape)
        ):
            return _along_sums(dot.resharded(1 - side, dot.carried(side, 1 - side)))
    return None
