"""Shardings of this package and of JAX, one into the other, and marks in JAX programs."""

from sdy.jax.marking import mark_sharding
from sdy.jax.meshes import from_jax_mesh, to_jax_mesh
from sdy.jax.shardings import from_named_sharding, to_named_sharding, to_partition_spec

__all__ = [
    "from_jax_mesh",
    "from_named_sharding",
    "mark_sharding",
    "to_jax_mesh",
    "to_named_sharding",
    "to_partition_spec",
]
