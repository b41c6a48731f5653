"""Arrays in and out of the devices of a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

from sdy.dialect.errors import ArgumentTypeError, Error
from sdy.dialect.hlo_sharding import HloSharding, HloShardingKind
from sdy.jax.shardings import to_named_sharding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jax.typing import ArrayLike

    from sdy.compile.signature import ShardedType

__all__ = ["assemble", "is_addressable", "jax_sharding", "named_sharding", "place"]

_EACH = "device"
_KINDS = (np.bool_, np.integer, np.floating, np.complexfloating)


def place(
    array: ArrayLike, wanted: ShardedType, devices: Sequence[jax.Device], what: str
) -> jax.Array:
    """Put the part of an array that each device is to hold there, padded where it is short.

    With several processes, each is given the whole array, and puts the parts of its own devices.

    Returns:
      An array with the local shape of `wanted`, times the number of devices in the first
      dimension: jaxlib takes arguments as arrays, but looks only at their parts.

    Raises:
      Error: if the array has another shape or element type; `what` names it. Python's numbers,
        and lists of them, have the type that is wanted if that can hold them.

    """
    array = _checked(array, wanted, what)
    if _is_elsewhere(array):
        array = _resharded(array, wanted, devices, what)
    parts = _parts_in_place(array, wanted, devices)
    if parts is None:
        whole = np.asarray(array)
        slices = wanted.sharding.device_slices(wanted.shape, len(devices))
        here = [i for i, device in enumerate(devices) if is_addressable(device)]
        local = [
            _padded(whole[slices[i]], wanted.local_shape)
            if i in slices
            else np.zeros(wanted.local_shape, wanted.dtype)
            for i in here
        ]
        with jax.enable_x64(True):
            parts = jax.device_put(local, [devices[i] for i in here])
    return _stack(parts, wanted.local_shape, devices)


def is_addressable(device: jax.Device) -> bool:
    """Return whether a device is one of this process."""
    return bool(device.process_index == device.client.process_index())


def _is_elsewhere(array: jax.Array | np.ndarray) -> TypeGuard[jax.Array]:
    """Return whether parts of an array are on devices of other processes only."""
    return isinstance(array, jax.Array) and not (
        array.is_fully_addressable or array.is_fully_replicated
    )


def _resharded(
    array: jax.Array, wanted: ShardedType, devices: Sequence[jax.Device], what: str
) -> jax.Array:
    """Return an array of several processes laid out as it should, by exchange between them."""
    sharding = jax_sharding(wanted, devices)
    if array.sharding.is_equivalent_to(sharding, array.ndim):
        return array
    if not wanted.is_divisible:
        raise Error(
            f"{what} is on devices of several processes, and is to be split as {wanted.sharding}, "
            "which does not divide it: pass the whole array"
        )
    return jax.device_put(array, sharding)


def _checked(array: ArrayLike, wanted: ShardedType, what: str) -> jax.Array | np.ndarray:
    """Return what was passed as an array of the wanted shape and element type."""
    is_typed = hasattr(array, "dtype")
    given = array if isinstance(array, jax.Array) else _as_numpy(array, wanted, what)
    if given.shape == wanted.shape and given.dtype == wanted.dtype:
        return given
    if given.shape != wanted.shape or is_typed or _kind(given.dtype) > _kind(wanted.dtype):
        raise Error(f"{what} is {_type_text(given)}, expected {_type_text(wanted)}")
    converted = np.asarray(given, dtype=wanted.dtype)
    if jnp.issubdtype(wanted.dtype, np.integer) and not np.array_equal(converted, given):
        raise _out_of_range(wanted, what)
    return converted


def _out_of_range(wanted: ShardedType, what: str) -> Error:
    return Error(f"{what} has integers that are out of range, expected {_type_text(wanted)}")


def _as_numpy(array: ArrayLike, wanted: ShardedType, what: str) -> np.ndarray:
    expected = f"expected an array {_type_text(wanted)}"
    try:
        if jnp.issubdtype(wanted.dtype, np.integer) and _are_integers(array):
            # Where some are large, numpy by itself takes all of them for floating-point.
            return np.asarray(array, dtype=wanted.dtype)
        given = np.asarray(array)
    except OverflowError:
        raise _out_of_range(wanted, what) from None
    except (ValueError, TypeError) as error:
        raise ArgumentTypeError(f"{what} cannot be read as an array: {error}; {expected}") from None
    if _kind(given.dtype) < len(_KINDS):
        return given
    elements = f" of {type(given.flat[0]).__name__}" if given.ndim and given.size else ""
    raise ArgumentTypeError(f"{what} is {type(array).__name__}{elements}; {expected}")


def _are_integers(array: ArrayLike) -> bool:
    if hasattr(array, "dtype"):
        return False
    return all(type(each) is int for each in np.asarray(array, dtype=object).flat)


def _kind(dtype: np.dtype[np.generic]) -> int:
    """Return the first of the kinds of numbers, each of which has those before it, or how many."""
    kinds = (kind for kind, numbers in enumerate(_KINDS) if jnp.issubdtype(dtype, numbers))
    return next(kinds, len(_KINDS))


def _type_text(array: jax.Array | np.ndarray | ShardedType) -> str:
    return f"{array.dtype}[{','.join(map(str, array.shape))}]"


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
    there = jax_sharding(wanted, devices).devices_indices_map(array.shape)
    if array.sharding.devices_indices_map(array.shape) != there:
        return None
    by_device = {shard.device: shard.data for shard in array.addressable_shards}
    return [by_device[device] for device in devices if device in by_device]


def _stack(
    parts: Sequence[jax.Array], local_shape: tuple[int, ...], devices: Sequence[jax.Device]
) -> jax.Array:
    spec = PartitionSpec(_EACH) if local_shape else PartitionSpec()
    shape = (local_shape[0] * len(devices), *local_shape[1:]) if local_shape else ()
    sharding = NamedSharding(Mesh(np.asarray(devices), (_EACH,)), spec)
    return jax.make_array_from_single_device_arrays(shape, sharding, list(parts))


def jax_sharding(
    held: ShardedType, devices: Sequence[jax.Device]
) -> NamedSharding | SingleDeviceSharding:
    """Return JAX's sharding for arrays of a type, on the program's own mesh where it has one."""
    if held.named is None:
        return named_sharding(held.sharding, devices)
    return to_named_sharding(held.named, devices)


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

    Args:
      parts: those on devices of this process.
      held: what they are parts of.
      devices: all of the program.

    """
    if held.sharding.kind is HloShardingKind.MAXIMAL:
        holder = {devices[held.sharding.device or 0]}
        parts = [part for part in parts if part.devices() == holder]
    if held.is_divisible:
        with jax.enable_x64(True):
            return jax.make_array_from_single_device_arrays(
                held.shape, jax_sharding(held, devices), list(parts), dtype=held.dtype
            )
    whole = np.empty(held.shape, held.dtype)
    everywhere = _on_host(parts, held.local_shape, devices)
    for device, where in held.sharding.device_slices(held.shape).items():
        target = whole[where]
        target[...] = everywhere[device][tuple(map(slice, target.shape))]
    with jax.enable_x64(True):
        return jax.device_put(whole, named_sharding(HloSharding.replicated(), devices))


def _on_host(
    parts: Sequence[jax.Array], local_shape: tuple[int, ...], devices: Sequence[jax.Device]
) -> Sequence[np.ndarray]:
    """Return the parts of all devices; those of other processes are fetched."""
    if len(parts) == len(devices):
        return [np.asarray(part) for part in parts]
    replicated = named_sharding(HloSharding.replicated(), devices)
    stacked = jax.device_put(_stack(parts, local_shape, devices), replicated)
    return np.split(np.asarray(stacked), len(devices))
