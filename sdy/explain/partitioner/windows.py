"""Ops that reach over the edges of shards: slices, pads, windows, reversals."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sdy.dialect.sharding import DimensionSharding
from sdy.explain.partitioner.halos import halo_exchanges, reaches_too_far
from sdy.explain.partitioner.op_case import (
    OpCase,
    OpExchange,
    reshard_tensor,
)
from sdy.explain.partitioner.reshards import reshard
from sdy.explain.partitioner.tiling import tiling_of

if TYPE_CHECKING:
    from sdy.dialect.sharding import TensorSharding
    from sdy.dialect.sharding_rule import OpShardingRule

__all__ = ["split_reversal", "split_window"]


def split_window(case: OpCase, _rule: OpShardingRule) -> tuple[OpExchange, ...]:
    """Split as the result is; neighbours send what a shard lacks."""
    windows = case.detail.windows
    operand, result = case.operands[0], case.results[0]
    wanted = result.sharding
    for window in windows:
        if reaches_too_far(operand, wanted, window, result):
            wanted = _without_dimension(wanted, window.dim)
    found = reshard_tensor("operand", 0, operand, operand.sharding, wanted)
    exchanges = halo_exchanges(operand, wanted, windows, result)
    if exchanges:
        found.append(OpExchange("halo", 0, wanted, wanted, exchanges))
    return tuple(found)


def split_reversal(case: OpCase, _rule: OpShardingRule) -> tuple[OpExchange, ...]:
    """Split as the result is; a device gets the shard that it reverses, from the other end."""
    operand, wanted = case.operands[0], case.results[0].sharding
    tiling = tiling_of(wanted)
    mirrored = tiling.reversed(case.detail.dims)
    if mirrored == tiling:
        return tuple(reshard_tensor("operand", 0, operand, operand.sharding, wanted))
    found = reshard(tiling_of(operand.sharding), mirrored, operand.shape, operand.itemsize)
    exchange = OpExchange(
        "copy", 0, operand.sharding, wanted, found.exchanges, found.is_full_rematerialization
    )
    return (exchange,)


def _without_dimension(sharding: TensorSharding, dim: int) -> TensorSharding:
    dimensions = list(sharding.dimensions)
    dimensions[dim] = DimensionSharding()
    return replace(sharding, dimensions=tuple(dimensions))
