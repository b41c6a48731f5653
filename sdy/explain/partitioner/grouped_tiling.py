"""Devices in groups, and a tiling that is the same within each of them.

XLA's dot handler splits the devices along some dimensions, and goes on in the groups as if each
were all there is. The functions are those of its `hlo_sharding_util.cc` and
`spmd_partitioner_util.cc` that are named in the docstrings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sdy.explain.partitioner.tiling import Tiling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sdy.explain.partitioner.tiling import Groups

__all__ = [
    "GroupedTiling",
    "grouped_by_replicas",
    "grouped_on",
    "matching_dimensions",
    "with_whole_tensors",
    "within_groups",
]


@dataclass(frozen=True, slots=True)
class GroupedTiling:
    """A tiling as groups of devices along some dimensions, and what is left in each group.

    Attributes:
      groups: the devices of each group.
      dims: the dimensions along which the groups are, major first. One behind the last dimension
        of the tensor stands for its replicas.
      sizes: the number of groups along each of `dims`.
      inner: the tiling in a group, of devices that are counted within it.

    """

    groups: Groups
    dims: tuple[int, ...]
    sizes: tuple[int, ...]
    inner: Tiling

    @property
    def rank(self) -> int:
        """The rank of the tensor."""
        return len(self.inner.dims)

    @property
    def is_on_replicas_alone(self) -> bool:
        """Whether each group has all of the tensor."""
        return self.dims == (self.rank,)

    def ungrouped(self) -> Tiling:
        """Return the tiling of all devices (`UngroupSharding`)."""
        placed = np.asarray(self.groups)[:, self.inner.array()]
        counts = (*self.inner.dims, self.inner.replicas)
        behind = len(self.dims)
        order: list[int] = []
        for dim in range(self.rank + 1):
            order += [self.dims.index(dim)] if dim in self.dims else []
            order.append(behind + dim)
        split = dict(zip(self.dims, self.sizes, strict=True))
        dims = [counts[dim] * split.get(dim, 1) for dim in range(self.rank)]
        return Tiling.of(dims, placed.reshape(*self.sizes, *counts).transpose(order))

    def aligned(self, other: GroupedTiling, *, in_any_order: bool = False) -> GroupedTiling:
        """Return the same with the groups of another one (`AlignGroupsWith`).

        Where the groups are the same but for the order of their devices, the devices keep their
        tiles; else the tiles stay, and the devices get other ones.

        Args:
          other: whose groups are taken.
          in_any_order: whether groups are the same in any order.

        """
        order = self._order_in(other, in_any_order=in_any_order)
        inner = self.inner
        if order is not None and not inner.is_replicated:
            inner = Tiling.of(inner.dims, order[inner.array()])
        return replace(self, groups=other.groups, inner=inner)

    def has_groups_of(self, other: GroupedTiling) -> bool:
        """Return whether both have the same groups in the same order (`DeviceGroupsAreMatch`)."""
        return list(map(set, self.groups)) == list(map(set, other.groups))

    def _order_in(self, other: GroupedTiling, *, in_any_order: bool) -> NDArray[np.int64] | None:
        """Return the places of the devices of the first group in its like; None without one."""
        ours, theirs = list(map(frozenset, self.groups)), list(map(frozenset, other.groups))
        same = set(ours) == set(theirs) if in_any_order else ours == theirs
        if not same:
            return None
        like = other.groups[theirs.index(ours[0])]
        place = {device: index for index, device in enumerate(like)}
        return np.asarray([place[device] for device in self.groups[0]])

    def part_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return what a group has of a tensor of `shape` (`GetPerGroupBaseShape`)."""
        split = dict(zip(self.dims, self.sizes, strict=True))
        return tuple(-(-size // split.get(dim, 1)) for dim, size in enumerate(shape))


def grouped_on(
    tiling: Tiling, dims: Sequence[int], left: Sequence[int] | None = None
) -> GroupedTiling:
    """Return the groups of devices along dimensions (`GroupShardingOnDims`).

    Args:
      tiling: the tiling.
      dims: dimensions; one behind the last stands for the replicas.
      left: for each of them, the number of tiles that are left in a group; one by default.

    """
    counts = (*tiling.dims, tiling.replicas)
    kept = dict(zip(dims, left or [1] * len(dims), strict=True))
    inner = [kept.get(dim, count) for dim, count in enumerate(counts)]
    split = [size for count, n in zip(counts, inner, strict=True) for size in (count // n, n)]
    others = [axis for axis in range(len(split)) if axis % 2 or axis // 2 not in kept]
    order = [*(2 * dim for dim in dims), *others]
    sizes = tuple(counts[dim] // kept[dim] for dim in dims)
    rows = tiling.array().reshape(split).transpose(order).reshape(math.prod(sizes), -1)
    within = Tiling.of(inner[:-1], np.arange(rows.shape[1]))
    return GroupedTiling(tuple(map(tuple, rows.tolist())), tuple(dims), sizes, within)


def grouped_by_replicas(tiling: Tiling, groups: Groups) -> GroupedTiling | None:
    """Return the tiling in groups that each hold all of the tensor; None where some do not.

    Each group is to have as many devices of every tile, in the same order
    (`PartialReplicatedGroupShardingWithAssignedDeviceGroups`).
    """
    if tiling.replicas % len(groups):
        return None
    tile = np.ravel_multi_index(tuple(tiling.tile_indices().T), tiling.dims)
    within: set[Tiling] = set()
    for group in groups:
        held = tile[np.asarray(group)]
        if set(np.bincount(held, minlength=math.prod(tiling.dims))) != {
            tiling.replicas // len(groups)
        }:
            return None
        within.add(Tiling.of(tiling.dims, np.argsort(held, kind="stable")))
    if len(within) > 1:
        return None
    return with_whole_tensors(groups, within.pop())


def within_groups(tiling: Tiling, groups: Groups) -> GroupedTiling:
    """Return a tiling in groups that do the same, each with all of the tensor."""
    place = {device: index for index, device in enumerate(groups[0])}
    held = [place[device] for device in tiling.devices if device in place]
    return with_whole_tensors(groups, Tiling.of(tiling.dims, np.asarray(held)))


def with_whole_tensors(groups: Groups, inner: Tiling) -> GroupedTiling:
    """Return groups that each hold all of a tensor, tiled in the same way."""
    return GroupedTiling(groups, (len(inner.dims),), (len(groups),), inner)


def matching_dimensions(tiling: Tiling, groups: Groups) -> tuple[int, ...] | None:
    """Return the dimensions along which a tiling has these groups, in any order; None without.

    One behind the last dimension stands for the replicas
    (`FindMatchingPartitionedDimsForGrouping`).
    """
    if tiling.is_replicated or len(groups) < 2:
        return None
    counts = (*tiling.dims, *([tiling.replicas] if tiling.is_partial else []))
    if len(groups[0]) < 2:
        return tuple(dim for dim, count in enumerate(counts) if count > 1)
    array = tiling.array()
    places = np.stack(np.unravel_index(np.argsort(array.reshape(-1)), array.shape), axis=-1)
    held = places[np.asarray(groups)]
    dims = tuple(dim for dim in range(len(counts)) if held[0, 0, dim] == held[0, 1, dim])
    if math.prod(counts[dim] for dim in dims) != len(groups):
        return None
    same = (held[..., list(dims)] == held[:, :1, list(dims)]).all()
    return dims if same else None
