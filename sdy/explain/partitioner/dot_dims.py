"""The dimensions of a dot, and how the tiling of one of its tensors looks on another."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sdy.explain.partitioner.tiling import Tiling

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from sdy.dialect.sharding_rule import OpShardingRule

__all__ = ["LEFT", "OUT", "RIGHT", "DotDim", "DotDims", "count_along", "merged"]

LEFT, RIGHT, OUT = 0, 1, 2
"""The tensors of a dot, as `DotDim` counts them."""


class DotDim(NamedTuple):
    """A dimension of a dot in its two operands and its result; -1 where it is missing."""

    left: int
    right: int
    out: int


@dataclass(frozen=True, slots=True)
class DotDims:
    """The dimensions of a dot by kind.

    Attributes:
      batch: those of all three tensors.
      summed: those of both operands.
      free: those of one operand and the result: of the left one, and of the right one.

    """

    batch: tuple[DotDim, ...]
    summed: tuple[DotDim, ...]
    free: tuple[tuple[DotDim, ...], tuple[DotDim, ...]]

    @staticmethod
    def of(rule: OpShardingRule) -> DotDims:
        """Return the dimensions that the sharding rule of a dot says."""
        places = [[-1, -1, -1] for _ in rule.factor_sizes]
        for tensor, mapping in enumerate(rule.tensors):
            for dim, dimension in enumerate(mapping.dimensions):
                for factor in dimension.factors:
                    places[factor][tensor] = dim
        dims = [DotDim(*place) for place in places]
        return DotDims(
            tuple(d for d in dims if -1 not in d),
            tuple(d for d in dims if d.out < 0),
            (tuple(d for d in dims if d.right < 0), tuple(d for d in dims if d.left < 0)),
        )

    def rank(self, tensor: int) -> int:
        """Return the rank of a tensor."""
        return sum(dim[tensor] >= 0 for dim in self._all())

    def carried(self, tiling: Tiling, source: int, target: int) -> Tiling:
        """Return the tiling of one tensor on the dimensions that another shares with it.

        What splits other dimensions makes replicas.
        """
        pairs = sorted(
            (dim[target], dim[source]) for dim in self._all() if min(dim[target], dim[source]) >= 0
        )
        kept = [s for _, s in pairs]
        others = [axis for axis in range(len(tiling.dims) + 1) if axis not in kept]
        counts = [1] * self.rank(target)
        for t, s in pairs:
            counts[t] = tiling.dims[s]
        return Tiling.of(counts, tiling.array().transpose(*kept, *others))

    def is_carried(self, tiling: Tiling, source: int, target: int, wanted: Tiling) -> bool:
        """Return whether a tiling on another tensor is `wanted`, and nothing of it is lost."""
        carried = self.carried(tiling, source, target)
        return math.prod(carried.dims) == math.prod(tiling.dims) and carried == wanted

    def _all(self) -> tuple[DotDim, ...]:
        return self.batch + self.summed + self.free[LEFT] + self.free[RIGHT]


def count_along(tiling: Tiling, dims: Iterable[DotDim], tensor: int) -> int:
    """Return the number of tiles along dimensions of a tensor."""
    return math.prod(tiling.dims[dim[tensor]] for dim in dims)


def merged(first: Tiling, second: Tiling) -> Tiling | None:
    """Return the tiling that splits all that either does; None where they are in conflict."""
    dims = tuple(map(max, first.dims, second.dims))
    for tiling in (first, second):
        if any(count not in (1, whole) for count, whole in zip(tiling.dims, dims, strict=True)):
            return None
    one, other = first.tile_indices(), second.tile_indices()
    both = np.asarray(first.dims) == np.asarray(second.dims)
    if (one != other)[:, both].any():
        return None
    return _tiling_of_places(dims, np.maximum(one, other), sorted(first.devices))


def _tiling_of_places(
    dims: Sequence[int], places: NDArray[np.int64], devices: Sequence[int]
) -> Tiling | None:
    """Return the tiling in which each device has the tile at its place, as many have each."""
    tiles = np.zeros(len(devices), dtype=np.int64)
    for dim, count in enumerate(dims):
        tiles = tiles * count + places[:, dim]
    if len(set(np.bincount(tiles, minlength=math.prod(dims)))) > 1:
        return None
    return Tiling.of(dims, np.asarray(devices)[np.argsort(tiles, kind="stable")])
