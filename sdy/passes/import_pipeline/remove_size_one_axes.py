"""Removes axes of size one from shardings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from sdy.ir.sharding_walk import transform_shardings
from sdy.passes.base import Pass

if TYPE_CHECKING:
    from sdy.dialect.axes import AxisRef
    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding import DimensionSharding, TensorSharding
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["RemoveSizeOneAxes"]


@dataclass(frozen=True, slots=True)
class RemoveSizeOneAxes(Pass):
    """Removes axes of size one from all shardings; meshes and manual axes keep them.

    Such an axis splits nothing, but two tensors that differ in one would be a conflict to
    propagation. Nothing is done unless a mesh of the module has such an axis.
    """

    name: ClassVar[str] = "sdy-remove-size-one-axes"

    def run(self, module: IndexedModule) -> None:
        """Remove the axes in place."""
        if any(1 in mesh.shape for mesh in module.meshes.values()):
            transform_shardings(module, _without_size_one_axes)


def _without_size_one_axes(sharding: TensorSharding) -> TensorSharding:
    mesh = sharding.bound_mesh
    return replace(
        sharding,
        dimensions=tuple(_shrink_dimension(d, mesh) for d in sharding.dimensions),
        replicated=_shrink(sharding.replicated, mesh),
        unreduced=_shrink(sharding.unreduced, mesh),
    )


def _shrink(axes: tuple[AxisRef, ...], mesh: Mesh) -> tuple[AxisRef, ...]:
    return tuple(axis for axis in axes if axis.size(mesh) != 1)


def _shrink_dimension(dimension: DimensionSharding, mesh: Mesh) -> DimensionSharding:
    axes = _shrink(dimension.axes, mesh)
    # A closed dimension without axes may have no priority: there is nothing to propagate.
    priority = dimension.priority if axes or not dimension.is_closed else None
    return replace(dimension, axes=axes, priority=priority)
