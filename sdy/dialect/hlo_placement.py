"""Which device holds which tile under an `HloSharding`, by numpy."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from sdy.dialect.errors import Error, VerifyError
from sdy.dialect.hlo_sharding import HloShardingKind, SubgroupKind
from sdy.dialect.listed_devices import check_listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sdy.dialect.hlo_sharding import HloSharding

__all__ = [
    "device_slices",
    "is_equivalent",
    "local_shape",
    "shard_offset",
    "tile_devices",
    "tile_indices",
    "tile_offsets",
]


def local_shape(sharding: HloSharding, shape: Sequence[int]) -> tuple[int, ...]:
    """Return the shape of the largest shard; see `HloSharding`."""
    sharding = _without_names(sharding)
    if not sharding.is_tiled:
        return tuple(shape)
    if len(sharding.data_dims) != len(shape):
        raise VerifyError(
            f"{sharding} is for tensors of rank {len(sharding.data_dims)}, not {len(shape)}"
        )
    return tuple(-(-size // n) for size, n in zip(shape, sharding.data_dims, strict=True))


def tile_indices(
    sharding: HloSharding, rank: int, num_devices: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the devices and the index of each one's tile; see `HloSharding`."""
    sharding = _without_names(sharding)
    if sharding.tiles is not None:
        tiled = sharding.tiles.devices().reshape(-1)
        places = np.indices(sharding.tiles.dims, dtype=np.int64)[:rank]
        return tiled, places.reshape(rank, sharding.tiles.size).T
    if sharding.kind is HloShardingKind.MAXIMAL:
        devices = np.asarray([sharding.device], dtype=np.int64)
    elif num_devices is None:
        raise Error(f"{sharding} fits any number of devices: say how many there are")
    else:
        check_listed(num_devices, "a sharding")
        devices = np.arange(num_devices, dtype=np.int64)
    return devices, np.zeros((len(devices), rank), dtype=np.int64)


def device_slices(
    sharding: HloSharding, shape: Sequence[int], num_devices: int | None
) -> dict[int, tuple[slice, ...]]:
    """Return what every device holds of a tensor of `shape`; see `HloSharding`."""
    local = np.asarray(local_shape(sharding, shape), dtype=np.int64)
    sizes = np.asarray(shape, dtype=np.int64)
    devices, indices = tile_indices(sharding, len(shape), num_devices)
    starts = np.minimum(indices * local, sizes)
    stops = np.minimum(starts + local, sizes)
    return {
        device: tuple(map(slice, start, stop))
        for device, start, stop in zip(
            devices.tolist(), starts.tolist(), stops.tolist(), strict=True
        )
    }


def tile_devices(sharding: HloSharding) -> NDArray[np.int64]:
    """Return the devices of every tile; see `HloSharding`."""
    sharding = _without_names(sharding)
    if sharding.kind is HloShardingKind.MAXIMAL:
        return np.asarray([sharding.device], dtype=np.int64)
    if sharding.tiles is None:
        raise Error(f"{sharding} fits any number of devices: it names none")
    return sharding.tiles.devices().reshape((*sharding.data_dims, -1))


def tile_offsets(sharding: HloSharding, shape: Sequence[int]) -> NDArray[np.int64]:
    """Return where every tile of a tensor of `shape` starts; see `HloSharding`."""
    local = np.asarray(local_shape(sharding, shape), dtype=np.int64)
    sizes = np.asarray(shape, dtype=np.int64)
    counts = _without_names(sharding).data_dims or (1,) * len(shape)
    check_listed(prod(counts), "a tiling")
    indices = np.moveaxis(np.indices(counts, dtype=np.int64), 0, -1)
    offsets: NDArray[np.int64] = np.minimum(indices * local, sizes)
    return offsets


def shard_offset(sharding: HloSharding, shape: Sequence[int], device: int) -> tuple[int, ...]:
    """Return where the shard of `device` starts; see `HloSharding`."""
    local = local_shape(sharding, shape)
    if not _without_names(sharding).is_tiled and sharding.device in (None, device):
        return (0,) * len(shape)
    devices, indices = tile_indices(sharding, len(shape), None)
    place = np.flatnonzero(devices == device)
    if not len(place):
        raise VerifyError(f"{sharding} puts nothing on device {device}")
    index = indices[place[0]].tolist()
    return tuple(min(i * n, size) for i, n, size in zip(index, local, shape, strict=True))


def is_equivalent(first: HloSharding, second: HloSharding) -> bool:
    """Return whether both mean the same; see `HloSharding`."""
    if first.kind is HloShardingKind.TUPLE or second.kind is HloShardingKind.TUPLE:
        return len(first.elements) == len(second.elements) and (
            first.kind is second.kind and all(map(is_equivalent, first.elements, second.elements))
        )
    first, second = first.canonical(), second.canonical()
    if first.tiles is None or second.tiles is None or first.tiles == second.tiles:
        return (first.kind, first.device, first.tiles, first.subgroups) == (
            second.kind,
            second.device,
            second.tiles,
            second.subgroups,
        )
    if first.data_dims != second.data_dims or first.tiles.size != second.tiles.size:
        return False
    return all(
        np.array_equal(mine, other)
        for mine, other in zip(_labels(first), _labels(second), strict=True)
    )


def _labels(sharding: HloSharding) -> list[NDArray[np.int64]]:
    """Return for the devices, ascending: their ids, tiles, manual subgroups and parts of a sum.

    Which of two subgroups comes first does not matter: each is known by its least device.
    Which parts of a sum belong together is only said within a tile of a manual subgroup.
    """
    tiles = sharding.tiles
    assert tiles is not None
    devices = tiles.devices().reshape(-1)
    order = np.argsort(devices)
    rank = len(sharding.data_dims)
    places = np.indices(tiles.dims, dtype=np.int64).reshape(len(tiles.dims), -1)
    nowhere = np.zeros_like(devices)
    subgroups = dict(zip(sharding.subgroups, places[rank:], strict=True))
    manual = subgroups.get(SubgroupKind.MANUAL, nowhere)
    unreduced = subgroups.get(SubgroupKind.UNREDUCED, nowhere)
    tile = nowhere
    for place, size in zip(places[:rank], tiles.dims[:rank], strict=True):
        tile = tile * size + place
    part = (tile * tiles.size + manual) * tiles.size + unreduced
    return [
        devices[order],
        tile[order],
        _least_member(manual[order]),
        _least_member(part[order]),
    ]


def _least_member(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each place the first place that has the same label."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(first[inverse], dtype=np.int64)


def _without_names(sharding: HloSharding) -> HloSharding:
    if sharding.kind is HloShardingKind.TUPLE:
        raise VerifyError(f"{sharding} is the sharding of a tuple, not of a tensor")
    return sharding.without_names()
