"""Tilings between two others, from which a reshard can go on.

Each function is a pattern of XLA's `spmd_partitioner.cc`, named there in the docstring.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from sdy.explain.partitioner.tiling import Tiling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sdy.explain.partitioner.tiling import Groups

__all__ = [
    "AlignedGroups",
    "Merging",
    "aligned_groups",
    "compatible_tiling",
    "detour_by_merging",
    "detour_by_replicating",
    "detour_by_splitting",
    "detour_by_tile_per_replica",
]


def compatible_tiling(coarse: Tiling, fine: Tiling) -> Tiling | None:
    """Return a tiling with as many tiles as `fine`, each inside of the device's tile in `coarse`.

    It is `fine` itself if that is so; else it splits the replicas of `coarse`. None where a
    dimension of `fine` is not a multiple (`PartialReplicateReshardCompatibleSharding`).
    """
    if not coarse.is_partial or len(coarse.devices) != len(fine.devices):
        return None
    if any(f % c for f, c in zip(fine.dims, coarse.dims, strict=True)):
        return None
    factors = [f // c for f, c in zip(fine.dims, coarse.dims, strict=True)]
    if (fine.tile_indices() // factors == coarse.tile_indices()).all():
        return fine
    rank = len(factors)
    array = coarse.array().reshape(*coarse.dims, *factors, fine.replicas)
    order = [axis for dim in range(rank) for axis in (dim, rank + dim)]
    return Tiling.of(fine.dims, array.transpose(*order, 2 * rank))


def detour_by_tile_per_replica(partial: Tiling, tiled: Tiling) -> Tiling | None:
    """Return `tiled` with its last split dimension replicated, where the tiles are shifted.

    From `[1, a, b]` with c replicas to `[a, b, c]` on the same devices in the same order, all
    dimensions move by one (`ReshardPartialReplicateWithAllToAll`).
    """
    if not partial.is_partial or tiled.replicas > 1 or tiled.is_replicated:
        return None
    if (*partial.dims, partial.replicas) != (1, *tiled.dims) or partial.devices != tiled.devices:
        return None
    last = max(dim for dim, count in enumerate(tiled.dims) if count > 1)
    if tiled.dims[last] != partial.replicas:
        return None
    dims = [1 if dim == last else count for dim, count in enumerate(tiled.dims)]
    return Tiling.of(dims, tiled.array())


def detour_by_replicating(source: Tiling, target: Tiling) -> Tiling | None:
    """Return `source` with the dimension replicated that gives it the replicas of the target.

    (`PatternMatchPartiallyReplicateDim`)
    """
    if not target.is_partial:
        return None
    for dim, count in enumerate(source.dims):
        if count > 1 and count * source.replicas == target.replicas:
            return source.without([dim])
    return None


def detour_by_splitting(source: Tiling, target: Tiling) -> Tiling | None:
    """Return `source` with its replicas splitting a dimension that the target splits.

    (the last case of `TryComplexReshardHandling`)
    """
    if not source.is_partial or target.is_partial:
        return None
    for dim, (now, then) in enumerate(zip(source.dims, target.dims, strict=True)):
        if now == 1 and then != 1 and then % source.replicas == 0:
            order = list(range(len(source.dims) + 1))
            order[dim], order[-1] = order[-1], order[dim]
            dims = list(source.dims)
            dims[dim] = source.replicas
            return Tiling.of(dims, source.array().transpose(*order))
    return None


@dataclass(frozen=True, slots=True)
class Merging:
    """A dimension seen as two, so that all-to-alls can move one of them.

    Attributes:
      before: the tiling of the tensor with the dimension split in two.
      after: that to which it is brought.
      shape: of the tensor with the dimension split in two.
      result: the tiling when the two are one again.

    """

    before: Tiling
    after: Tiling
    shape: tuple[int, ...]
    result: Tiling


def detour_by_merging(source: Tiling, target: Tiling, shape: Sequence[int]) -> Merging | None:
    """Return how to move a part of one dimension's tiles to another dimension.

    `[x, y]` becomes `[x*y, 1]`, or `[x*y, z]` becomes `[x, y*z]`
    (`PatternMatchMergeOrSplitSharding`).
    """
    if source.is_replicated or source.replicas != target.replicas:
        return None
    changed = [i for i, (a, b) in enumerate(zip(source.dims, target.dims, strict=True)) if a != b]
    for pair in combinations(changed, 2):
        found = _dimension_to_split(source, target, shape, *pair)
        if found is not None:
            return _merging(source, target, shape, *found)
    return None


def _dimension_to_split(
    source: Tiling, target: Tiling, shape: Sequence[int], i: int, j: int
) -> tuple[int, int, int] | None:
    """Return the dimension to split, the one to exchange with, and the tiles of its major part."""
    now, then = source.dims, target.dims
    ones = [now[i], now[j], then[i], then[j]].count(1)
    if ones > 1:
        return None
    if now[i] * now[j] != then[i] * then[j]:
        return None
    if ones == 1:
        if 1 in (now[i], then[i]):
            i, j = j, i
        if then[j] == 1:
            fits = source.local_shape(shape)[i] % now[j] == 0
            return (i, j, now[i]) if fits else None
        return (i, j, then[i]) if shape[i] % now[i] == 0 else None
    if now[i] < then[i]:
        i, j = j, i
    if now[i] % then[i] or shape[i] % now[i]:
        return None
    return i, j, then[i]


def _merging(
    source: Tiling, target: Tiling, shape: Sequence[int], dim: int, other: int, major: int
) -> Merging:
    """Return how `dim`, split in two with `major` tiles in front, exchanges the rest with `other`.

    Where `other` keeps tiles of its own, it is split in two as well, and gets the rest behind.
    """
    now = source.dims
    minor, kept = now[dim] // major, now[other] if now[other] < target.dims[other] else 1
    before: list[int] = []
    after: list[int] = []
    split_shape: list[int] = []
    for place, (count, size) in enumerate(zip(now, shape, strict=True)):
        if place == dim:
            before += [major, minor]
            after += [major, 1 if kept > 1 else now[other]]
            inner = minor * source.local_shape(shape)[dim]
            split_shape += [max(1, size // inner), inner]
        elif place == other and kept > 1:
            before += [kept, 1]
            after += [kept, minor]
            split_shape += [kept, -(-size // kept)]
        else:
            before.append(count)
            after.append(minor if place == other else count)
            split_shape.append(size)
    merged = list(now)
    merged[dim] = major * (1 if kept > 1 else now[other])
    merged[other] = kept * minor
    return Merging(
        Tiling.of(before, source.array()),
        Tiling.of(after, target.array()),
        tuple(split_shape),
        Tiling.of(merged, target.array()),
    )


@dataclass(frozen=True, slots=True)
class AlignedGroups:
    """A reshard that goes on within groups of devices, the same in each.

    Attributes:
      dims: the dimensions that both tilings split equally; each group has one part of them.
      source: the tiling before in a group; devices are counted within it.
      target: the tiling after in a group.
      result: the tiling of all devices when the groups are done.
      devices: the devices of each group.

    """

    dims: tuple[int, ...]
    source: Tiling
    target: Tiling
    result: Tiling
    devices: Groups

    def expand(self, groups: Groups) -> Groups:
        """Return groups within a group as groups of all devices."""
        return tuple(
            tuple(members[place] for place in group) for members in self.devices for group in groups
        )


def aligned_groups(source: Tiling, target: Tiling) -> AlignedGroups | None:
    """Return the groups that equally split dimensions make; None where there is no such dimension.

    (the end of `ReshardNoCache`)
    """
    dims = tuple(
        dim
        for dim, (a, b) in enumerate(zip(source.dims, target.dims, strict=True))
        if a == b and a > 1
    )
    if not dims:
        return None
    ours, theirs = _grouped(source, dims), _grouped(target, dims)
    size = ours.shape[1]
    inner_source = [1 if dim in dims else n for dim, n in enumerate(source.dims)]
    inner_target = [1 if dim in dims else n for dim, n in enumerate(target.dims)]
    order = np.arange(size)
    same = all(set(a) == set(b) for a, b in zip(ours.tolist(), theirs.tolist(), strict=True))
    if same:
        position = {device: place for place, device in enumerate(ours[0].tolist())}
        order = np.asarray([position[device] for device in theirs[0].tolist()])
    inside = Tiling.of(inner_target, order)
    return AlignedGroups(
        dims,
        Tiling.of(inner_source, np.arange(size)),
        inside,
        _ungrouped(ours, inside, target, dims),
        tuple(map(tuple, ours.tolist())),
    )


def _grouped(tiling: Tiling, dims: Sequence[int]) -> NDArray[np.int64]:
    """Return the devices, shape `[groups, devices of a group]`."""
    others = [axis for axis in range(len(tiling.dims) + 1) if axis not in dims]
    groups = math.prod(tiling.dims[dim] for dim in dims)
    return tiling.array().transpose(*dims, *others).reshape(groups, -1)


def _ungrouped(
    groups: NDArray[np.int64],
    inside: Tiling,
    target: Tiling,
    dims: Sequence[int],
) -> Tiling:
    """Return the tiling of all devices that is `inside` in every group."""
    counts = [target.dims[dim] for dim in dims]
    others = [dim for dim in range(len(target.dims)) if dim not in dims]
    rows = groups[:, np.asarray(inside.devices)]
    array = rows.reshape(*counts, *(target.dims[dim] for dim in others), -1)
    places = [*dims, *others]
    order = [places.index(dim) for dim in range(len(places))]
    return Tiling.of(target.dims, array.transpose(*order, len(places)))
