"""The groups of devices of collectives that a program has itself, where they are axes of a mesh.

From jax 0.12 on, collectives in a `jax.shard_map` say their groups so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from sdy.dialect.axes import AxisRef
from sdy.dialect.device_groups import groups_along

if TYPE_CHECKING:
    from sdy.dialect.mesh import Mesh
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["axes_of_groups", "list_groups"]

_GROUPS = "replica_groups"
_COLLECTIVES: Final = tuple(
    f"stablehlo.{name}"
    for name in (
        "all_gather",
        "all_reduce",
        "all_to_all",
        "collective_broadcast",
        "reduce_scatter",
    )
)

# Absent from older versions, in which groups are always listed.
_MESH_AXES: Any = getattr(stablehlo, "ReplicaGroupMeshAxesAttr", None)


def list_groups(module: IndexedModule) -> None:
    """List the devices of all groups, in place, so that no collective needs a mesh any more."""
    with module.context:
        for name in _COLLECTIVES:
            for op in module.ops(name):
                axes = axes_of_groups(op)
                if axes is not None:
                    mesh = _mesh(op, module)
                    devices = np.ascontiguousarray(groups_along(mesh, axes).devices())
                    op.attributes[_GROUPS] = ir.DenseIntElementsAttr.get(devices)


def axes_of_groups(op: ir.Operation) -> tuple[AxisRef, ...] | None:
    """Return the axes of the groups of a collective; None where it lists the devices."""
    groups = op.attributes.get(_GROUPS)
    if groups is None or _MESH_AXES is None or not _MESH_AXES.isinstance(groups):
        return None
    return tuple(map(_axis, ir.ArrayAttr(_MESH_AXES(groups).axes)))


def _axis(attribute: ir.Attribute) -> AxisRef:
    axis: Any = stablehlo.AxisRefAttr(attribute)
    part = axis.sub_axis_info
    if part is None:
        return AxisRef(axis.name)
    part = stablehlo.SubAxisInfoAttr(part)
    return AxisRef.sub(axis.name, part.pre_size, part.size)


def _mesh(op: ir.Operation, module: IndexedModule) -> Mesh:
    name = ir.FlatSymbolRefAttr(_MESH_AXES(op.attributes[_GROUPS]).mesh).value
    return module.meshes[name]
