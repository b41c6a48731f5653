"""Arrays in and out of the devices of a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

from sdy.dialect.errors import Error
from sdy.dialect.hlo_sharding import HloSharding, HloShardingKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jax.typing import ArrayLike

    from sdy.compile.signature import ShardedType

__all__ = ["assemble", "named_sharding", "place"]

_EACH = "device"


def place(
    array: ArrayLike, wanted: ShardedType, devices: Sequence[jax.Device], what: str
) -> jax.Array:
    """Put the part of an array that each device is to hold there, padded where it is short.

    Returns:
      An array with the local shape of `wanted`, times the number of devices in the first
      dimension: jaxlib takes arguments as arrays, but looks only at their parts.

    Raises:
      Error: if the array has another shape or element type; `what` names it.

    """
    shape, dtype = np.shape(array), np.dtype(getattr(array, "dtype", wanted.dtype))
    if shape != wanted.shape or dtype != wanted.dtype:
        raise Error(
            f"{what} is {dtype}[{','.join(map(str, shape))}], expected "
            f"{wanted.dtype}[{','.join(map(str, wanted.shape))}]"
        )
    parts = _parts_in_place(array, wanted, devices)
    if parts is None:
        whole = np.asarray(array, dtype=wanted.dtype)
        slices = wanted.sharding.device_slices(wanted.shape, len(devices))
        local = [
            _padded(whole[slices[i]], wanted.local_shape)
            if i in slices
            else np.zeros(wanted.local_shape, wanted.dtype)
            for i in range(len(devices))
        ]
        with jax.enable_x64(True):
            parts = jax.device_put(local, list(devices))
    return _stack(parts, wanted.local_shape, devices)


def _padded(part: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    if part.shape == shape:
        return part
    return np.pad(part, [(0, full - size) for size, full in zip(part.shape, shape, strict=True)])


def _parts_in_place(
    array: ArrayLike, wanted: ShardedType, devices: Sequence[jax.Device]
) -> list[jax.Array] | None:
    """Return the parts of an array that already lies as it should; None if it does not."""
    if not isinstance(array, jax.Array) or not wanted.is_divisible:
        return None
    if array.sharding.device_set != set(devices):
        return None
    if not named_sharding(wanted.sharding, devices).is_equivalent_to(array.sharding, array.ndim):
        return None
    by_device = {shard.device: shard.data for shard in array.addressable_shards}
    return [by_device[device] for device in devices]


def _stack(
    parts: Sequence[jax.Array], local_shape: tuple[int, ...], devices: Sequence[jax.Device]
) -> jax.Array:
    spec = PartitionSpec(_EACH) if local_shape else PartitionSpec()
    shape = (local_shape[0] * len(devices), *local_shape[1:]) if local_shape else ()
    sharding = NamedSharding(Mesh(np.asarray(devices), (_EACH,)), spec)
    return jax.make_array_from_single_device_arrays(shape, sharding, list(parts))


def named_sharding(
    sharding: HloSharding, devices: Sequence[jax.Device]
) -> NamedSharding | SingleDeviceSharding:
    """Return JAX's sharding that puts tensors as `sharding` does.

    Its mesh is the array of tiles: one axis for each dimension of it, `t0`, `t1`, ....

    Args:
      sharding: replicated, maximal, or tiled with replicas at most.
      devices: those that the sharding numbers.

    """
    if sharding.kind is HloShardingKind.MAXIMAL:
        return SingleDeviceSharding(devices[sharding.device or 0])
    everywhere = np.asarray(devices)
    if sharding.tiles is None:
        return NamedSharding(Mesh(everywhere, (_EACH,)), PartitionSpec())
    names = tuple(f"t{i}" for i in range(len(sharding.tiles.dims)))
    spec = [
        name if tiles > 1 else None for name, tiles in zip(names, sharding.data_dims, strict=False)
    ]
    return NamedSharding(Mesh(everywhere[sharding.tiles.devices()], names), PartitionSpec(*spec))


def assemble(
    parts: Sequence[jax.Array], held: ShardedType, devices: Sequence[jax.Device]
) -> jax.Array:
    """Return the array whose parts the devices hold, in the order of the devices.

    The parts stay where they are. Where a dimension is not divisible, which JAX's arrays
    cannot express, the array is put whole on every device.
    """
    sharding = named_sharding(held.sharding, devices)
    if held.sharding.kind is HloShardingKind.MAXIMAL:
        parts = [parts[held.sharding.device or 0]]
    if held.is_divisible:
        return jax.make_array_from_single_device_arrays(held.shape, sharding, list(parts))
    whole = np.empty(held.shape, held.dtype)
    for device, where in held.sharding.device_slices(held.shape).items():
        target = whole[where]
        target[...] = np.asarray(parts[device])[tuple(map(slice, target.shape))]
    with jax.enable_x64(True):
        return jax.device_put(whole, named_sharding(HloSharding.replicated(), devices))
