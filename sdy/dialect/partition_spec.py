"""Partition specs, as torch_xla's `mark_sharding` takes them, as either kind of sharding, and back.

In an `HloSharding`, the axes that an entry names become one dimension of the array of devices, in
the order of the tensor's dimensions; the axes that no entry names come last and hold replicas.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import TYPE_CHECKING

from sdy.dialect.axes import AxisRef
from sdy.dialect.errors import ArgumentTypeError, VerifyError, check_type
from sdy.dialect.hlo_sharding import HloSharding, SubgroupKind
from sdy.dialect.mesh import Mesh
from sdy.dialect.mesh_parts import MeshParts
from sdy.dialect.sharding import DimensionSharding, TensorSharding
from sdy.dialect.tile_assignment import TileAssignment

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Axis",
    "Entry",
    "from_partition_spec",
    "sharding_from_spec",
    "spec_entries",
    "spec_parts",
]

Axis = str | int
# What splits one dimension: nothing, an axis by its name or index, or several of them.
Entry = Axis | tuple[Axis, ...] | None


def from_partition_spec(
    mesh: Mesh, spec: Sequence[Entry], rank: int | None, num_devices: int | None
) -> HloSharding:
    """Return the sharding that `spec` means on `mesh`; see `HloSharding`."""
    _check_devices(mesh, num_devices)
    dimensions = _dimensions(mesh, spec, rank)
    if mesh.size == 1:
        return HloSharding.maximal(0)
    parts = MeshParts(mesh, ())
    dims = [parts.take(axes) for axes in dimensions]
    dims.append(parts.take_rest())
    devices = parts.assignment(dims).devices()
    listed = TileAssignment.listed(dims, devices.reshape(-1).tolist())
    return HloSharding.tiled(listed, [SubgroupKind.REPLICATED])


def sharding_from_spec(mesh: Mesh, spec: Sequence[Entry], rank: int | None) -> TensorSharding:
    """Return the closed sharding that `spec` means on `mesh`; see `TensorSharding`."""
    dimensions = _dimensions(mesh, spec, rank)
    return TensorSharding(mesh, tuple(DimensionSharding(tuple(axes)) for axes in dimensions))


def spec_parts(sharding: TensorSharding) -> MeshParts:
    """Return the mesh of a sharding, its axes split as the sharding uses sub-axes of them.

    Raises:
      VerifyError: where the sharding is not valid, or its mesh is not at hand.

    """
    sharding.verify()
    split = [axis for dimension in sharding.dimensions for axis in dimension.axes]
    return MeshParts(sharding.bound_mesh, [*split, *sharding.unreduced])


def spec_entries(
    sharding: TensorSharding, parts: MeshParts
) -> tuple[str | tuple[str, ...] | None, ...]:
    """Return what splits each dimension by the names of `parts`; see `TensorSharding`."""
    return tuple(_spec_entry(parts.part_names(d.axes)) for d in sharding.dimensions)


def _spec_entry(names: list[str]) -> str | tuple[str, ...] | None:
    if len(names) > 1:
        return tuple(names)
    return names[0] if names else None


def _dimensions(mesh: Mesh, spec: Sequence[Entry], rank: int | None) -> list[list[AxisRef]]:
    check_type(mesh, Mesh, "mesh", "a Mesh")
    expected = "a sequence with an entry for each dimension"
    check_type(spec, Iterable, "partition_spec", expected)
    if isinstance(spec, str):
        raise ArgumentTypeError(f"partition_spec: expected {expected}, got the text {spec!r}")
    mesh.verify()
    if rank is not None and len(spec) != rank:
        raise VerifyError(
            f"the partition spec has {len(spec)} entries for a tensor of rank {rank}: expected "
            "one for each dimension, None where it is not split"
        )
    dimensions = [_axes(mesh, entry) for entry in spec]
    _check_distinct(dimensions)
    return dimensions


def _check_devices(mesh: Mesh, num_devices: int | None) -> None:
    mesh.verify()
    if num_devices is not None and mesh.size != num_devices:
        raise VerifyError(
            f"the mesh has {mesh.size} devices, but there are {num_devices}: "
            "expected a mesh of all devices"
        )
    if mesh.is_maximal and mesh.maximal_device != 0:
        raise VerifyError("expected a mesh of all devices, not of one of them")


def _axes(mesh: Mesh, entry: Entry) -> list[AxisRef]:
    if entry is None:
        return []
    axes = entry if isinstance(entry, tuple | list) else (entry,)
    return [AxisRef(_axis_name(mesh, axis)) for axis in axes]


def _axis_name(mesh: Mesh, axis: Axis) -> str:
    if isinstance(axis, str):
        return mesh.axes[mesh.axis_index(axis)].name
    try:
        position = index(axis)
    except TypeError:
        raise VerifyError(
            f"{axis!r} in a partition spec: expected None, the name or the index of a mesh "
            "axis, or a tuple of them"
        ) from None
    if not 0 <= position < len(mesh.axes):
        raise VerifyError(f"axis {position} of a mesh with {len(mesh.axes)} axes")
    return mesh.axes[position].name


def _check_distinct(dimensions: Sequence[Sequence[AxisRef]]) -> None:
    used: set[AxisRef] = set()
    for axis in (axis for axes in dimensions for axis in axes):
        if axis in used:
            raise VerifyError(f"axis {axis} is used twice in a partition spec")
        used.add(axis)
