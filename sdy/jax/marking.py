"""Marks in JAX programs: of a value, and of its gradient in the backward pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
from jax.sharding import AxisType, NamedSharding

from sdy.dialect.errors import Error
from sdy.dialect.mesh import Mesh
from sdy.dialect.sharding import TensorSharding
from sdy.jax.meshes import JaxMesh, from_jax_mesh, to_abstract_mesh, to_jax_mesh
from sdy.jax.shardings import to_partition_spec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.dialect.partition_spec import Entry

__all__ = ["mark_sharding"]


def mark_sharding(x: jax.Array, mesh: Mesh | JaxMesh, partition_spec: Sequence[Entry]) -> jax.Array:
    """Return `x`, marked with a sharding; in the backward pass, its gradient is marked alike.

    It may stand in functions that JAX traces: under `jit`, `grad`, `jvp` and `vmap`, which leaves
    the dimension that it adds open. Each mark is one `sdy.sharding_constraint` in the lowered
    program. The gradient has one as well because JAX transposes a constraint into itself, what
    torch_xla does by a function of its own in its autograd.

    Args:
      x: an array or a traced value.
      mesh: one of JAX, or one of ours: that of all of JAX's devices if there are as many, else
        an abstract one.
      partition_spec: one entry for each dimension: None where it is not split, else the name or
        the index of a mesh axis, or a tuple of them.

    Raises:
      Error: if an entry is missing or is no axis of the mesh, an axis is used twice, or the mesh
        lists devices that JAX does not have.

    """
    ours = mesh if isinstance(mesh, Mesh) else from_jax_mesh(mesh)
    sharding = TensorSharding.from_partition_spec(ours, partition_spec, rank=jax.numpy.ndim(x))
    theirs = _theirs(mesh) if isinstance(mesh, Mesh) else mesh
    named = NamedSharding(_automatic(theirs), to_partition_spec(sharding))
    try:
        marked: jax.Array = jax.lax.with_sharding_constraint(x, named)
    except ValueError as error:
        raise Error(f"JAX cannot mark this value: {error}") from error
    return marked


def _theirs(mesh: Mesh) -> JaxMesh:
    if mesh.device_ids or mesh.size == jax.device_count():
        return to_jax_mesh(mesh)
    return to_abstract_mesh(mesh)


def _automatic(mesh: JaxMesh) -> JaxMesh:
    """Return a mesh whose axes propagation may use: JAX has no constraints on explicit ones."""
    if AxisType.Explicit not in mesh.axis_types:
        return mesh
    types = [AxisType.Auto if t is AxisType.Explicit else t for t in mesh.axis_types]
    if isinstance(mesh, jax.sharding.AbstractMesh):
        return jax.sharding.AbstractMesh(mesh.axis_sizes, mesh.axis_names, tuple(types))
    return jax.sharding.Mesh(mesh.devices, mesh.axis_names, tuple(types))
