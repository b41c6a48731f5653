"""Shardings as XLA's SPMD partitioner sees them: which device has which tile."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from sdy.dialect.hlo_sharding import HloSharding
from sdy.dialect.listed_devices import check_listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sdy.dialect.sharding import TensorSharding

__all__ = ["Tiling", "tiling_of"]

_REMEMBERED = 8192


@dataclass(frozen=True, slots=True)
class Tiling:
    """Tiles of a tensor on devices; several devices may hold the same tile.

    Make one with `Tiling.of`: then two are equal just if every device holds the same tile.

    Attributes:
      dims: the number of tiles in each dimension of the tensor.
      devices: the devices tile by tile, row-major; those of one tile ascend.

    """

    dims: tuple[int, ...]
    devices: tuple[int, ...]
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.dims, self.devices)))

    def __hash__(self) -> int:
        # Kept, because tilings are looked up by the thousand and may be of thousands of devices.
        return self._hash

    @staticmethod
    def of(dims: Sequence[int], devices: NDArray[np.int64]) -> Tiling:
        """Return the tiling of these devices, tile by tile."""
        rows = np.sort(devices.reshape(math.prod(dims), -1), axis=1)
        return Tiling(tuple(map(int, dims)), tuple(rows.reshape(-1).tolist()))

    @staticmethod
    def whole(rank: int, count: int) -> Tiling:
        """Return the tiling in which so many devices each hold all of a tensor."""
        return Tiling((1,) * rank, tuple(range(count)))

    @property
    def replicas(self) -> int:
        """The number of devices that hold each tile."""
        return len(self.devices) // math.prod(self.dims)

    @property
    def is_replicated(self) -> bool:
        """Whether every device holds all of the tensor."""
        return math.prod(self.dims) == 1

    @property
    def is_partial(self) -> bool:
        """Whether the tensor is split and several devices hold each tile."""
        return self.replicas > 1 and not self.is_replicated

    def array(self) -> NDArray[np.int64]:
        """Return the devices, shape `[*dims, replicas]`."""
        return np.asarray(self.devices, dtype=np.int64).reshape(*self.dims, self.replicas)

    def tile_indices(self) -> NDArray[np.int64]:
        """Return the place of the tile of each device in every dimension, `[devices, rank]`.

        Devices are counted by their rank among the devices of the tiling.
        """
        order = np.argsort(np.asarray(self.devices))
        places = np.indices(self.dims).reshape(len(self.dims), math.prod(self.dims)).T
        held: NDArray[np.int64] = np.repeat(places, self.replicas, axis=0)[order]
        return held

    def local_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of a tile of a tensor of `shape`; the last ones may be padded."""
        return tuple(-(-size // count) for size, count in zip(shape, self.dims, strict=True))

    def groups(self, dims: Sequence[int], factors: Sequence[int] | None = None) -> Groups:
        """Return the devices that differ in their place along `dims` alone, a group each.

        Args:
          dims: dimensions of the tensor.
          factors: for each of them, how many neighbouring places count as different; all by
            default.

        """
        factors = [self.dims[dim] for dim in dims] if factors is None else factors
        by_dim = dict(zip(dims, factors, strict=True))
        rows = self._minor_last([by_dim.get(dim, 1) for dim in range(len(self.dims))])
        return tuple(map(tuple, rows.reshape(-1, math.prod(factors)).tolist()))

    def merged(self, factors: Sequence[int]) -> Tiling:
        """Return the tiling in which so many neighbouring tiles of each dimension are one."""
        dims = [count // factor for count, factor in zip(self.dims, factors, strict=True)]
        rows = self._minor_last(factors, replicas_last=True)
        return Tiling.of(dims, rows)

    def _minor_last(
        self, factors: Sequence[int], *, replicas_last: bool = False
    ) -> NDArray[np.int64]:
        """Return the devices with the minor part of every dimension, `factors`, behind the rest."""
        split = [
            size
            for count, factor in zip(self.dims, factors, strict=True)
            for size in (count // factor, factor)
        ]
        rank = len(self.dims)
        outer, inner = range(0, 2 * rank, 2), range(1, 2 * rank, 2)
        order = (*outer, *inner, 2 * rank) if replicas_last else (*outer, 2 * rank, *inner)
        return self.array().reshape(*split, self.replicas).transpose(*order)

    def reversed(self, dims: Sequence[int]) -> Tiling:
        """Return the tiling with the tiles along `dims` in reverse order."""
        return Tiling.of(self.dims, np.flip(self.array(), tuple(dims)))

    def reshaped(self, dims: Sequence[int]) -> Tiling:
        """Return the devices in the same order with other numbers of tiles."""
        return Tiling.of(dims, self.array())

    def without(self, dims: Sequence[int]) -> Tiling:
        """Return the tiling in which `dims` are not split: their tiles are put together."""
        kept = [axis for axis in range(len(self.dims) + 1) if axis not in dims]
        array = self.array().transpose(*kept, *dims)
        return Tiling.of([1 if i in dims else n for i, n in enumerate(self.dims)], array)


Groups = tuple[tuple[int, ...], ...]


@lru_cache(maxsize=_REMEMBERED)
def tiling_of(sharding: TensorSharding) -> Tiling:
    """Return the tiling that a sharding means; parts of a sum count as replicas.

    Raises:
      VerifyError: if the sharding is not valid on its mesh.

    """
    mesh = sharding.bound_mesh
    hlo = HloSharding.from_sharding(replace(sharding, unreduced=()))
    if hlo.tiles is None:
        check_listed(mesh.size, "a mesh")
        return Tiling((1,) * sharding.rank, mesh.device_ids or tuple(range(mesh.size)))
    return Tiling.of(hlo.data_dims, hlo.tiles.devices())
