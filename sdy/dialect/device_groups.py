"""The devices that differ in their place along some axes of a mesh alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.dialect.mesh_parts import MeshParts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.mesh import Mesh
    from sdy.dialect.tile_assignment import TileAssignment

__all__ = ["groups_along"]


def groups_along(mesh: Mesh, axes: Sequence[AxisRef]) -> TileAssignment:
    """Return groups of devices along axes, one a row, its devices in the order of the axes.

    The rows are in the order of the other axes of the mesh.
    """
    parts = MeshParts(mesh, list(axes))
    dims = parts.take(axes), parts.take_rest()
    return parts.assignment(dims).transposed((1, 0))
