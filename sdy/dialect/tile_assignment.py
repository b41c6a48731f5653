"""Which device is at which place of an array of tiles, listed or counted.

The counted form is XLA's iota tile assignment `[dims]<=[reshape]T(transpose)`: the devices
0, 1, 2, ... reshaped to `reshape`, transposed, and reshaped again to `dims`. It costs the same
for any number of devices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sdy.dialect.listed_devices import check_listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["TileAssignment"]


@dataclass(frozen=True, slots=True)
class TileAssignment:
    """Devices arranged in an array of shape `dims`.

    Attributes:
      dims: the number of tiles in each dimension.
      reshape: the shape into which the devices are counted; empty if they are listed.
      transpose: the order in which the dimensions of `reshape` are then read.
      ids: the device at each place, row-major; empty if they are counted.

    """

    dims: tuple[int, ...]
    reshape: tuple[int, ...] = ()
    transpose: tuple[int, ...] = ()
    ids: tuple[int, ...] = ()

    @staticmethod
    def iota(
        dims: Sequence[int],
        reshape: Sequence[int] | None = None,
        transpose: Sequence[int] | None = None,
    ) -> TileAssignment:
        """Return the counted assignment in its shortest form; by default in row-major order.

        Raises:
          ValueError: if the numbers of places differ or `transpose` is no permutation.

        """
        reshape = [math.prod(dims)] if reshape is None else reshape
        transpose = range(len(reshape)) if transpose is None else transpose
        if math.prod(dims) != math.prod(reshape):
            raise ValueError(f"{list(dims)} and {list(reshape)} differ in the number of devices")
        if sorted(transpose) != list(range(len(reshape))):
            raise ValueError(f"{list(transpose)} is no permutation of {len(reshape)} dimensions")
        return TileAssignment(tuple(dims), *_shortest(reshape, transpose))

    @staticmethod
    def listed(dims: Sequence[int], ids: Iterable[int]) -> TileAssignment:
        """Return the assignment that lists its devices, row-major.

        Raises:
          ValueError: if there is not one device for each place.

        """
        ids = tuple(int(i) for i in ids)
        if math.prod(dims) != len(ids):
            raise ValueError(f"{list(dims)} has {math.prod(dims)} places for {len(ids)} devices")
        return TileAssignment(tuple(dims), ids=ids)

    def __str__(self) -> str:
        dims = f"devices=[{_join(self.dims)}]"
        if not self.is_iota:
            return dims + _join(self.ids)
        order = f"T({_join(self.transpose)})" if len(self.reshape) > 1 else ""
        return f"{dims}<=[{_join(self.reshape)}]{order}"

    @property
    def is_iota(self) -> bool:
        """Whether the devices are counted, not listed."""
        return bool(self.reshape)

    @property
    def size(self) -> int:
        """The number of places."""
        return math.prod(self.dims)

    def devices(self) -> NDArray[np.int64]:
        """Return the device at each place, an array of shape `dims`.

        Raises:
          VerifyError: where there are too many to list them.

        """
        if not self.is_iota:
            return np.asarray(self.ids, dtype=np.int64).reshape(self.dims)
        check_listed(self.size, "a tiling")
        counted = np.arange(self.size, dtype=np.int64).reshape(self.reshape)
        return counted.transpose(self.transpose).reshape(self.dims)

    def canonical(self) -> TileAssignment:
        """Return this with its devices counted, if there is a way to count them."""
        if self.is_iota:
            return self
        counted = _counted(np.asarray(self.ids, dtype=np.int64))
        return self if counted is None else TileAssignment.iota(self.dims, *counted)

    def factors(self) -> tuple[list[int], list[list[int]]] | None:
        """Split `reshape` so that each of `dims` is made of whole dimensions of it.

        Returns:
          The finer `reshape`, and for each of `dims` the dimensions of it that make it up,
          major first; None where a dimension straddles two, or the devices are listed.

        """
        return self._split(self.dims) if self.is_iota else None

    def reshaped(self, dims: Sequence[int]) -> TileAssignment:
        """Return the same devices, row-major, in an array of shape `dims`."""
        return replace(self, dims=tuple(dims))

    def transposed(self, order: Sequence[int]) -> TileAssignment:
        """Return this with its dimensions in another order.

        The devices stay counted unless a tile straddles a dimension of `reshape`, as in
        `[2,3]<=[2,3]T(1,0)`: then they are listed, as XLA does.
        """
        dims = [self.dims[i] for i in order]
        moved = [i for i in order if self.dims[i] > 1]
        if moved == sorted(moved):
            return self.reshaped(dims)
        split = self._split(self.dims) if self.is_iota else None
        if split is None:
            return TileAssignment.listed(dims, self.devices().transpose(order).reshape(-1))
        reshape, groups = split
        return TileAssignment.iota(dims, reshape, [place for i in order for place in groups[i]])

    def sorted_along_last(self) -> TileAssignment:
        """Return this with the devices ascending along the last dimension."""
        group = self.dims[-1]
        if self.is_iota and self.reshape[self.transpose[-1]] == group:
            return self
        split = self._split((self.size // group, group)) if self.is_iota else None
        if split is None:
            return TileAssignment.listed(self.dims, np.sort(self.devices(), axis=-1).reshape(-1))
        reshape, (major, minor) = split
        return TileAssignment.iota(self.dims, reshape, [*major, *sorted(minor)])

    def _split(self, dims: Sequence[int]) -> tuple[list[int], list[list[int]]] | None:
        """Return `factors` for other `dims`; the devices must be counted."""
        parts: list[list[int]] = [[] for _ in self.reshape]
        groups: list[list[tuple[int, int]]] = [[] for _ in dims]
        group, wanted = 0, dims[0] if dims else 1
        for place in self.transpose:
            left = self.reshape[place]
            while left > 1:
                while wanted == 1:
                    group += 1
                    wanted = dims[group]
                part = math.gcd(left, wanted)
                if part not in (left, wanted):
                    return None
                groups[group].append((place, len(parts[place])))
                parts[place].append(part)
                left, wanted = left // part, wanted // part
        starts = [sum(map(len, parts[:place])) for place in range(len(parts))]
        reshape = [part for place in parts for part in place]
        return reshape, [[starts[place] + i for place, i in members] for members in groups]


def _counted(ids: NDArray[np.int64]) -> tuple[list[int], list[int]] | None:
    """Return the `reshape` and the `transpose` that count these devices, None if none do.

    Strides are read off minor dimension first: each is an arithmetic sequence as long as it
    goes, and what is left is its starts.
    """
    sizes: list[int] = []
    strides: list[int] = []
    left = ids
    if left[0] != 0:
        return None
    while len(left) > 1:
        stride = int(left[1])
        steps = np.flatnonzero(left != np.arange(len(left)) * stride)
        size = int(steps[0]) if len(steps) else len(left)
        if len(left) % size:
            return None
        rows = left.reshape(-1, size)
        if (rows != rows[:, :1] + np.arange(size) * stride).any():
            return None
        sizes.append(size)
        strides.append(stride)
        left = rows[:, 0]
    by_stride = sorted(range(len(sizes)), key=lambda i: -strides[i])
    reshape = [sizes[i] for i in by_stride]
    if [strides[i] for i in by_stride] != [
        math.prod(reshape[i + 1 :]) for i in range(len(reshape))
    ]:
        return None
    return reshape or [1], [by_stride.index(i) for i in reversed(range(len(sizes)))] or [0]


def _shortest(
    reshape: Sequence[int], transpose: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Drop dimensions of size one, merge those that stay neighbours; at least one is left."""
    order = [place for place in transpose if reshape[place] > 1]
    kept = sorted(order)
    rank = {place: i for i, place in enumerate(kept)}
    runs: list[list[int]] = []
    for place in order:
        if runs and rank[place] == rank[runs[-1][-1]] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    if not runs:
        return (1,), (0,)
    by_place = sorted(runs)
    return (
        tuple(math.prod(reshape[place] for place in run) for run in by_place),
        tuple(by_place.index(run) for run in runs),
    )


def _join(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))
