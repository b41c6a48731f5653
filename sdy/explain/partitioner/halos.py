"""What shards send to their neighbours where an op reaches over the edge of a shard."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sdy.explain.partitioner.exchanges import Exchange
from sdy.explain.partitioner.tiling import tiling_of

if TYPE_CHECKING:
    from sdy.dialect.sharding import TensorSharding
    from sdy.explain.partitioner.detail import Window
    from sdy.explain.partitioner.op_case import Tensor
    from sdy.explain.partitioner.tiling import Tiling

__all__ = ["halo_exchanges", "reaches_too_far"]


def halo_exchanges(
    tensor: Tensor, sharding: TensorSharding, windows: tuple[Window, ...], result: Tensor
) -> tuple[Exchange, ...]:
    """Return the permutations by which each device gets what its shard lacks.

    One for each neighbour that has some of it, in each dimension that is split: XLA's
    `ReshardAsWindowedInput`.

    Args:
      tensor: the operand.
      sharding: of the operand and, along the windows' dimensions, of the result.
      windows: of the dimensions in which elements of the result and the operand do not match.
      result: of the op.

    """
    tiling = tiling_of(sharding)
    local = list(tiling.local_shape(tensor.shape))
    exchanges: list[Exchange] = []
    for window in windows:
        if tiling.dims[window.dim] == 1:
            continue
        shard = local[window.dim]
        others = math.prod(local) // max(1, shard) * tensor.itemsize
        left, right = _halo(window, tiling.dims[window.dim], shard, result)
        for size, direction in ((left, 1), (right, -1)):
            for hop in range(-(-size // shard)):
                part = min(shard, size - hop * shard)
                pairs = _neighbours(tiling, window.dim, direction * (hop + 1))
                exchanges.append(Exchange("collective-permute", part * others, pairs))
        local[window.dim] = shard + left + right
    return tuple(exchanges)


def reaches_too_far(
    tensor: Tensor, sharding: TensorSharding, window: Window, result: Tensor
) -> bool:
    """Return whether a device needs more than its neighbours have; then all is gathered."""
    count = tiling_of(sharding).dims[window.dim]
    shard = -(-tensor.shape[window.dim] // count)
    return max(_halo(window, count, shard, result)) >= shard > 0 and count > 1


def _halo(window: Window, count: int, shard: int, result: Tensor) -> tuple[int, int]:
    """Return how many elements before and behind its shard a device needs, at most."""
    size = result.shape[window.result_dim]
    per_shard = -(-size // count)
    before = behind = 0
    for place in range(count):
        first = place * per_shard
        last = min(size, first + per_shard) - 1
        if last < first:
            continue
        start = max(0, first * window.stride - window.low)
        end = last * window.stride - window.low + (window.size - 1) * window.dilation + 1
        before = max(before, place * shard - start)
        behind = max(behind, min(end, count * shard) - (place + 1) * shard)
    return before, behind


def _neighbours(tiling: Tiling, dim: int, distance: int) -> tuple[tuple[int, ...], ...]:
    """Return the pairs of devices that are so far apart along a dimension."""
    array = tiling.array().swapaxes(0, dim)
    count = len(array)
    pairs: list[tuple[int, ...]] = []
    for place in range(count):
        if 0 <= place + distance < count:
            source, target = array[place].reshape(-1), array[place + distance].reshape(-1)
            pairs += zip(source.tolist(), target.tolist(), strict=True)
    return tuple(pairs)
