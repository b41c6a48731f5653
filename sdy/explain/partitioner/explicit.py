"""Collectives that a program has itself, as in the body of a `jax.shard_map`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jaxlib.mlir import ir

from sdy.dialect.device_groups import groups_along
from sdy.ir.replica_groups import axes_of_groups

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sdy.dialect.mesh import Mesh
    from sdy.explain.partitioner.exchanges import Kind
    from sdy.explain.partitioner.tiling import Groups

__all__ = ["EXPLICIT", "explicit_groups"]

EXPLICIT: Final[Mapping[str, Kind]] = {
    "stablehlo.all_gather": "all-gather",
    "stablehlo.all_reduce": "all-reduce",
    "stablehlo.all_to_all": "all-to-all",
    "stablehlo.collective_permute": "collective-permute",
    "stablehlo.reduce_scatter": "reduce-scatter",
}
"""The kinds of the collectives by the names of the ops."""


def explicit_groups(op: ir.Operation, mesh: Mesh) -> Groups:
    """Return the groups of devices of a collective, or its pairs; all devices where it has none.

    Of groups of unequal size the largest ones are returned.
    """
    groups = _groups(op, mesh)
    largest = max(map(len, groups), default=0)
    if not largest:
        return (tuple(mesh.flat_devices().tolist()),)
    return tuple(group for group in groups if len(group) == largest)


def _groups(op: ir.Operation, mesh: Mesh) -> Groups:
    axes = axes_of_groups(op)
    if axes is not None:
        is_known = all(mesh.has_axis(axis.name) for axis in axes)
        return tuple(map(tuple, groups_along(mesh, axes).devices().tolist())) if is_known else ()
    name = "source_target_pairs" if "source_target_pairs" in op.attributes else "replica_groups"
    groups = ir.DenseIntElementsAttr(op.attributes[name])
    count, size = groups.type.shape
    ids = [int(device) for device in groups]
    rows = [ids[start : start + size] for start in range(0, count * size, max(1, size))]
    # Groups of unequal size are filled up with -1; what is no device of the mesh is left out.
    return tuple(tuple(device for device in row if 0 <= device < mesh.size) for row in rows)
