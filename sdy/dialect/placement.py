"""Which device holds which part of a tensor, by numpy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sdy.dialect.errors import VerifyError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding import TensorSharding

__all__ = ["device_slices", "is_equivalent", "tile_indices"]


def _index_along(axes: Iterable[AxisRef], mesh: Mesh) -> NDArray[np.int64]:
    """Return, for every place of the mesh row-major, its index along `axes`, major first."""
    places = np.arange(mesh.size, dtype=np.int64)
    index = np.zeros(mesh.size, dtype=np.int64)
    for axis in axes:
        size = axis.size(mesh)
        index = index * size + places // _stride(axis, mesh) % size
    return index


def _stride(axis: AxisRef, mesh: Mesh) -> int:
    """Return how many places of the mesh, row-major, lie between two neighbours along an axis."""
    full_size, end = mesh.axis_size(axis.name), axis.next_pre_size(mesh)
    if end < 1 or full_size % end:
        raise VerifyError(f"{axis} is no part of an axis of size {full_size}")
    minor = mesh.shape[mesh.axis_index(axis.name) + 1 :]
    return full_size // end * math.prod(minor)


def tile_indices(sharding: TensorSharding) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the devices, and for each the index of its tile in every dimension.

    Returns:
      The device ids, shape `[devices]`, and the tile indices, shape `[devices, rank]`.

    """
    mesh = sharding.bound_mesh
    devices = mesh.flat_devices()
    indices = [_index_along(dimension.axes, mesh) for dimension in sharding.dimensions]
    stacked = np.stack(indices, axis=1) if indices else np.zeros((mesh.size, 0), dtype=np.int64)
    return devices, stacked


def slice_bounds(
    sharding: TensorSharding, shape: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the devices, and for each the start and end of its slice in every dimension.

    Returns:
      The device ids, shape `[devices]`, and the bounds, shape `[devices, rank, 2]`.

    """
    local = np.asarray(sharding.local_shape(shape), dtype=np.int64)
    sizes = np.asarray(shape, dtype=np.int64)
    devices, tiles = tile_indices(sharding)
    if tiles.shape[1] != len(shape):  # a maximal sharding has no dimensions
        tiles = np.zeros((len(devices), len(shape)), dtype=np.int64)
    starts = np.minimum(tiles * local, sizes)
    return devices, np.stack([starts, starts + np.minimum(local, sizes - starts)], axis=-1)


def device_slices(sharding: TensorSharding, shape: Sequence[int]) -> dict[int, tuple[slice, ...]]:
    """Return for every device the slice of a tensor of `shape` that it holds."""
    devices, bounds = slice_bounds(sharding, shape)
    return {
        device: tuple(slice(start, stop) for start, stop in device_bounds)
        for device, device_bounds in zip(devices.tolist(), bounds.tolist(), strict=True)
    }


def is_equivalent(first: TensorSharding, second: TensorSharding, shape: Sequence[int]) -> bool:
    """Return whether both put the same data on every device; see `TensorSharding`."""
    devices, bounds = slice_bounds(first, shape)
    other_devices, other_bounds = slice_bounds(second, shape)
    order, other_order = np.argsort(devices), np.argsort(other_devices)
    return (
        np.array_equal(devices[order], other_devices[other_order])
        and np.array_equal(bounds[order], other_bounds[other_order])
        and _same_partition(
            _index_along(first.unreduced, first.bound_mesh)[order],
            _index_along(second.unreduced, second.bound_mesh)[other_order],
        )
    )


def _same_partition(first: NDArray[np.int64], second: NDArray[np.int64]) -> bool:
    """Return whether both labellings group the devices alike."""
    pairs = len(np.unique(np.stack([first, second]), axis=1).T)
    return pairs == len(np.unique(first)) == len(np.unique(second))
