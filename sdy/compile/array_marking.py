"""Marks on arrays: their shards are made on the devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from sdy.dialect.errors import ArgumentTypeError, Error, check_type
from sdy.dialect.mesh import Mesh
from sdy.dialect.sharding import TensorSharding
from sdy.ir.counters import count
from sdy.ir.marking import refusal
from sdy.jax.meshes import from_jax_mesh
from sdy.jax.shardings import to_named_sharding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.dialect.partition_spec import Entry

__all__ = ["clear_array", "mark_array"]


def mark_array(
    array: Any,
    mesh: Mesh | jax.sharding.Mesh,
    spec: Sequence[Entry],
    devices: Sequence[jax.Device] | None,
) -> jax.Array:
    """Return an array with its shards on the devices; see `sdy.mark_sharding`."""
    _check_array(array)
    check_type(mesh, (Mesh, jax.sharding.Mesh), "mesh", "a Mesh, of this package or of JAX")
    if not isinstance(mesh, Mesh):
        devices = list(mesh.devices.flat) if devices is None else devices
        mesh = from_jax_mesh(mesh, devices)
    ours = TensorSharding.from_partition_spec(mesh, spec, rank=array.ndim)
    wanted = to_named_sharding(ours, devices)
    try:
        with jax.enable_x64(True):
            if isinstance(array, jax.Array):
                return _move(array, wanted)
            return _split(np.asarray(array), wanted)
    except (TypeError, ValueError) as error:
        raise Error(f"JAX cannot hold the array so: {error}") from error


def clear_array(array: Any) -> np.ndarray:
    """Return an array as a whole on the host; see `sdy.clear_sharding`."""
    _check_array(array)
    if not isinstance(array, jax.Array):
        count("clear_sharding.unchanged")
        return np.asarray(array)
    if not array.is_fully_addressable:
        raise Error("some shards of the array are on devices of other processes")
    count("clear_sharding.cleared")
    return np.asarray(array)


def _check_array(array: Any) -> None:
    if isinstance(array, jax.core.Tracer):
        raise ArgumentTypeError("a traced value of JAX is marked by sdy.jax.mark_sharding")
    kinds = (np.ndarray, np.generic, jax.Array)
    check_type(array, kinds, "x", "a value of a module, or an array of numpy or JAX")


def _split(array: np.ndarray, wanted: jax.sharding.NamedSharding) -> jax.Array:
    """Return the array with shards made from the host's copy."""
    made = jax.make_array_from_callback(array.shape, wanted, lambda where: array[where])
    count("mark_sharding.array_from_host")
    return made


def _move(array: jax.Array, wanted: jax.sharding.NamedSharding) -> jax.Array:
    """Return the array with its shards transferred, unless they are in place already."""
    held = array.sharding
    if held.device_set == wanted.device_set and held.is_equivalent_to(wanted, array.ndim):
        count("mark_sharding.unchanged")
        return array
    if not held.is_fully_replicated:
        count("mark_sharding.refused")
        raise Error(refusal("the array", held, wanted))
    moved = jax.device_put(array, wanted)
    count("mark_sharding.array_by_transfer")
    return moved
