"""The mesh on which the tensors of an op come together."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding import TensorSharding

__all__ = ["mesh_of_op"]


def mesh_of_op(shardings: Sequence[TensorSharding | None]) -> Mesh | None:
    """Return the mesh to which all tensors are brought.

    It is that of most tensors that are split; the first to have as many, if there are several.
    None where no tensor has a sharding, where axes differ, or where tensors are on one device.
    """
    known = [sharding for sharding in shardings if sharding is not None]
    meshes = {id(sharding.bound_mesh): sharding.bound_mesh for sharding in known}
    if len(meshes) == 1:
        (only,) = meshes.values()
        return None if only.is_maximal else only
    common = _mesh_with_common_axes(sharding.bound_mesh for sharding in known)
    if common is None or common.is_maximal:
        return None
    counts: Counter[str | None] = Counter()
    best, most = common, 0
    for sharding in known:
        if sharding.is_fully_replicated:
            continue
        counts[sharding.mesh_name] += 1
        if counts[sharding.mesh_name] > most:
            best, most = sharding.bound_mesh, counts[sharding.mesh_name]
    return best


def _mesh_with_common_axes(meshes: Iterable[Mesh]) -> Mesh | None:
    """Return the last mesh whose devices are in plain order, else the first; None if axes differ.

    A mesh without axes and devices goes with every other.
    """
    common: Mesh | None = None
    for mesh in meshes:
        if common is None or common.is_empty:
            common = mesh
        elif mesh.is_empty:
            continue
        elif not mesh.equals(common, ignore_device_ids=True):
            return None
        elif not mesh.device_ids:
            common = mesh
    return common
