"""Collectives that move nothing: their operand takes their place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.ir.axis_lists import read_axes_per_dim
from sdy.ir.op_names import (
    ALL_GATHER,
    ALL_REDUCE,
    ALL_SLICE,
    ALL_TO_ALL,
    COLLECTIVE_PERMUTE,
    REDUCE_SCATTER,
)
from sdy.ir.value_sharding import sharding_of
from sdy.passes.canonicalize.driver import Rewriter, pattern
from sdy.passes.canonicalize.labels import COLLECTIVE_LABEL
from sdy.passes.canonicalize.operations import is_unused
from sdy.passes.canonicalize.stand_in import may_stand_in

if TYPE_CHECKING:
    from jaxlib.mlir import ir

__all__ = [
    "all_gather_noop",
    "all_reduce_noop",
    "all_slice_noop",
    "all_to_all_unused",
    "collective_permute_noop",
    "reduce_scatter_noop",
]


@pattern(ALL_GATHER, label=COLLECTIVE_LABEL)
def all_gather_noop(op: ir.Operation, rewriter: Rewriter) -> bool:
    """Drop an all-gather along no axes."""
    return _drop_without_axes(op, "gathering_axes", rewriter)


@pattern(ALL_SLICE, label=COLLECTIVE_LABEL)
def all_slice_noop(op: ir.Operation, rewriter: Rewriter) -> bool:
    """Drop an all-slice along no axes."""
    return _drop_without_axes(op, "slicing_axes", rewriter)


@pattern(ALL_REDUCE, label=COLLECTIVE_LABEL)
def all_reduce_noop(op: ir.Operation, rewriter: Rewriter) -> bool:
    """Drop an all-reduce along no axes."""
    return _drop_without_axes(op, "reduction_axes", rewriter)


@pattern(REDUCE_SCATTER, label=COLLECTIVE_LABEL)
def reduce_scatter_noop(op: ir.Operation, rewriter: Rewriter) -> bool:
    """Drop a reduce-scatter along no axes."""
    return _drop_without_axes(op, "reduce_scatter_axes", rewriter)


@pattern(ALL_TO_ALL, label=COLLECTIVE_LABEL)
def all_to_all_unused(op: ir.Operation, rewriter: Rewriter) -> bool:
    """Drop an all-to-all that nothing uses, such as the inner one of two that were fused."""
    return is_unused(op.result) and _drop(op, rewriter)


@pattern(COLLECTIVE_PERMUTE, label=COLLECTIVE_LABEL)
def collective_permute_noop(op: ir.Operation, rewriter: Rewriter) -> bool:
    """Drop a collective-permute whose operand is already sharded as its result is."""
    before = sharding_of(op.operands[0], rewriter.codec)
    after = rewriter.codec.sharding(op.attributes["out_sharding"])
    return after.splits_alike(before) and _drop(op, rewriter)


def _drop_without_axes(op: ir.Operation, key: str, rewriter: Rewriter) -> bool:
    return not any(read_axes_per_dim(op.attributes[key])) and _drop(op, rewriter)


def _drop(op: ir.Operation, rewriter: Rewriter) -> bool:
    operand = op.operands[0]
    if not may_stand_in(sharding_of(operand, rewriter.codec), op.result, rewriter.codec):
        return False
    rewriter.replace(op, [operand])
    return True
