"""A `TensorSharding` as JAX's `NamedSharding`, and back.

JAX has no sub-axes, open dimensions with axes, nor priorities. A sharding by sub-axes is one on
the mesh with those axes split; the rest is of interest to propagation alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jax.sharding import NamedSharding, PartitionSpec

from sdy.dialect.axes import AxisRef
from sdy.dialect.errors import Error, VerifyError, check_type
from sdy.dialect.partition_spec import spec_entries, spec_parts
from sdy.dialect.sharding import DimensionSharding, TensorSharding
from sdy.jax.meshes import from_jax_mesh, to_jax_mesh

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import jax

    from sdy.dialect.mesh import Mesh
    from sdy.dialect.mesh_parts import MeshParts

__all__ = ["from_named_sharding", "to_named_sharding", "to_partition_spec"]


def to_partition_spec(sharding: TensorSharding) -> PartitionSpec:
    """Return the axes that split each dimension, and the unreduced ones.

    Sub-axes are named as in the mesh of `to_named_sharding`: `x.0`, `x.1`, .... What is open is
    None, as what is closed: arrays have no open dimensions.

    Raises:
      VerifyError: where the sharding is not valid, or its mesh is not at hand.

    """
    return _spec(sharding, spec_parts(sharding))


def to_named_sharding(
    sharding: TensorSharding, devices: Sequence[jax.Device] | None = None
) -> NamedSharding:
    """Return JAX's sharding that puts every tensor as `sharding` does.

    Its mesh is that of `sharding`; an axis `x` of which it uses sub-axes is split into `x.0`,
    `x.1`, ..., major first.

    Args:
      sharding: bound to a mesh with axes.
      devices: all devices, in the order in which the mesh numbers them; JAX's by default.

    Raises:
      Error: where the mesh is not of all devices, or the sharding is not valid.

    """
    parts = spec_parts(sharding)
    return NamedSharding(to_jax_mesh(parts.split_mesh(), devices), _spec(sharding, parts))


def from_named_sharding(
    sharding: NamedSharding,
    rank: int | None = None,
    devices: Sequence[jax.Device] | None = None,
) -> TensorSharding:
    """Return what a sharding of JAX means, on an inlined mesh.

    A dimension that JAX calls unconstrained is open, any other closed.

    Args:
      sharding: on a mesh of devices, or an abstract one.
      rank: the rank of the tensor; by default, that of the partition spec, which may leave out
        the last dimensions.
      devices: the order in which to number the devices; by default that of their ids.

    Raises:
      Error: where the partition spec has more entries than the tensor has dimensions.

    """
    check_type(sharding, NamedSharding, "sharding", "a NamedSharding")
    entries = sharding.spec.partitions
    rank = len(entries) if rank is None else rank
    if len(entries) > rank:
        raise Error(f"{sharding.spec} has {len(entries)} entries for a tensor of rank {rank}")
    mesh = from_jax_mesh(sharding.mesh, devices)
    dimensions = [_dimension(entry) for entry in entries]
    dimensions += [DimensionSharding()] * (rank - len(entries))
    found = TensorSharding(
        mesh, tuple(dimensions), unreduced=_in_mesh_order(sharding.spec.unreduced, mesh)
    )
    found.verify()
    return found


def _spec(sharding: TensorSharding, parts: MeshParts) -> PartitionSpec:
    unreduced = frozenset(parts.part_names(sharding.unreduced))
    return PartitionSpec(*spec_entries(sharding, parts), unreduced=unreduced)


def _dimension(entry: object) -> DimensionSharding:
    if entry is PartitionSpec.UNCONSTRAINED:
        return DimensionSharding(is_closed=False)
    names = entry if isinstance(entry, tuple) else () if entry is None else (entry,)
    return DimensionSharding(tuple(map(AxisRef, names)))


def _in_mesh_order(names: Iterable[str], mesh: Mesh) -> tuple[AxisRef, ...]:
    if not set(names) <= set(mesh.axis_names):
        raise VerifyError(f"unreduced axes {sorted(names)} are not all axes of {mesh}")
    return tuple(AxisRef(name) for name in mesh.axis_names if name in names)
