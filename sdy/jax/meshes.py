"""Meshes of this package and of JAX, one into the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import jax
import numpy as np
from jax.sharding import AxisType

from sdy.dialect.errors import Error, check_type
from sdy.dialect.mesh import Mesh

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["JaxMesh", "from_jax_mesh", "to_abstract_mesh", "to_jax_mesh"]

JaxMesh: TypeAlias = "jax.sharding.Mesh | jax.sharding.AbstractMesh"


def to_jax_mesh(mesh: Mesh, devices: Sequence[jax.Device] | None = None) -> jax.sharding.Mesh:
    """Return a mesh as JAX has it; its axes are automatic ones.

    Args:
      mesh: the mesh; it has axes.
      devices: all devices, in the order in which the mesh numbers them; JAX's by default.

    Raises:
      Error: where the mesh is not of all of them.

    """
    mesh.verify()
    devices = jax.devices() if devices is None else devices
    if not mesh.axes:
        raise Error(f"JAX has no mesh without axes, such as {mesh}")
    if mesh.size != len(devices):
        raise Error(
            f"the mesh has {mesh.size} devices, but there are {len(devices)}: "
            "expected a mesh of all devices"
        )
    types = (AxisType.Auto,) * len(mesh.axes)
    return jax.sharding.Mesh(np.asarray(devices)[mesh.devices()], mesh.axis_names, types)


def to_abstract_mesh(mesh: Mesh) -> jax.sharding.AbstractMesh:
    """Return a mesh as JAX has it without devices."""
    types = (AxisType.Auto,) * len(mesh.axes)
    return jax.sharding.AbstractMesh(mesh.shape, mesh.axis_names, types)


def from_jax_mesh(mesh: JaxMesh, devices: Sequence[jax.Device] | None = None) -> Mesh:
    """Return what a mesh of JAX is, without a name.

    Args:
      mesh: of devices, or abstract: then its devices count as in order.
      devices: the order in which to number the devices; by default that of their ids.

    Raises:
      Error: where a device of the mesh is not among `devices`.

    """
    check_type(mesh, (jax.sharding.Mesh, jax.sharding.AbstractMesh), "mesh", "a mesh of JAX")
    axes = dict(zip(mesh.axis_names, mesh.axis_sizes, strict=True))
    if isinstance(mesh, jax.sharding.AbstractMesh):
        return Mesh(axes)
    flat = list(mesh.devices.flat)
    order = sorted(flat, key=lambda device: device.id) if devices is None else devices
    numbers = {device: number for number, device in enumerate(order)}
    missing = [device for device in flat if device not in numbers]
    if missing:
        raise Error(f"device {missing[0]} of the mesh is not among the devices given")
    return Mesh(axes, [numbers[device] for device in flat])
