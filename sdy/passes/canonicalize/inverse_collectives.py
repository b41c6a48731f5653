"""Collectives that undo what their operand did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.axes import merge_adjacent_axes
from sdy.ir.axis_lists import read_axes, read_axes_per_dim
from sdy.ir.op_names import (
    ALL_GATHER,
    ALL_REDUCE,
    ALL_SLICE,
    REPLICATED_TO_UNREDUCED,
    SHARDED_TO_UNREDUCED,
)
from sdy.ir.value_sharding import sharding_of
from sdy.passes.canonicalize.driver import Rewriter, pattern
from sdy.passes.canonicalize.labels import COLLECTIVE_LABEL
from sdy.passes.canonicalize.operations import producer
from sdy.passes.canonicalize.stand_in import may_stand_in

if TYPE_CHECKING:
    from sdy.dialect.axes import AxisRef

__all__ = [
    "all_reduce_of_replicated_to_unreduced",
    "all_reduce_of_sharded_to_unreduced",
    "all_slice_of_all_gather",
]


@pattern(ALL_SLICE, benefit=2, label=COLLECTIVE_LABEL)
def all_slice_of_all_gather(op: ir.Operation, rewriter: Rewriter) -> bool:
    """Take what was gathered where it is sliced along the same axes again."""
    gather = producer(op.operands[0], ALL_GATHER)
    if gather is None or gather.attributes["gathering_axes"] != op.attributes["slicing_axes"]:
        return False
    return _undo(op, gather.operands[0], rewriter)


@pattern(ALL_REDUCE, benefit=2, label=COLLECTIVE_LABEL)
def all_reduce_of_replicated_to_unreduced(op: ir.Operation, rewriter: Rewriter) -> bool:
    """Take what was replicated where its axes turn unreduced and are reduced again."""
    inner = producer(op.operands[0], REPLICATED_TO_UNREDUCED)
    if inner is None or inner.attributes["axes"] != op.attributes["reduction_axes"]:
        return False
    return _undo(op, inner.operands[0], rewriter)


@pattern(ALL_REDUCE, label=COLLECTIVE_LABEL)
def all_reduce_of_sharded_to_unreduced(op: ir.Operation, rewriter: Rewriter) -> bool:
    """Gather along the axes that turn from sharded to unreduced and are then reduced."""
    inner = producer(op.operands[0], SHARDED_TO_UNREDUCED)
    if inner is None or _all_axes(inner, rewriter) != read_axes(op.attributes["reduction_axes"]):
        return False
    source = inner.operands[0]
    gathered = rewriter.create(
        ALL_GATHER,
        [source],
        {
            "gathering_axes": inner.attributes["axes"],
            "out_sharding": op.attributes["out_sharding"],
        },
        op.result.type,
        at=ir.InsertionPoint(op),
        location=op.location,
    )
    rewriter.replace(op, [gathered])
    return True


def _undo(op: ir.Operation, source: ir.Value, rewriter: Rewriter) -> bool:
    if not may_stand_in(sharding_of(source, rewriter.codec), op.result, rewriter.codec):
        return False
    rewriter.replace(op, [source])
    return True


def _all_axes(op: ir.Operation, rewriter: Rewriter) -> tuple[AxisRef, ...]:
    """Return the axes of all dimensions as one list in the mesh's order, parts of one merged."""
    mesh = rewriter.codec.sharding(op.attributes["out_sharding"]).bound_mesh
    axes = [axis for axes in read_axes_per_dim(op.attributes["axes"]) for axis in axes]
    return merge_adjacent_axes(sorted(axes, key=lambda axis: axis.mesh_order(mesh)), mesh)
