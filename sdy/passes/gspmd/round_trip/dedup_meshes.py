"""Meshes over the same devices become one."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from sdy.dialect.axes import AxisRef, merge_adjacent_axes
from sdy.dialect.mesh_parts import axes_of_part
from sdy.ir.data_flow import MANUAL_COMPUTATION
from sdy.ir.op_names import MESH
from sdy.ir.sharding_walk import transform_shardings
from sdy.ir.symbols import symbol_name
from sdy.passes.base import Pass
from sdy.passes.gspmd.manual_axes_attribute import manual_axes_attribute, read_manual_axes
from sdy.passes.gspmd.manual_hierarchy import first_sharding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jaxlib.mlir import ir

    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["RoundTripDedupMeshes"]


@dataclass(frozen=True, slots=True)
class RoundTripDedupMeshes(Pass):
    """Keeps one of the meshes that have the same devices in the same order.

    Of these, the one to keep has names that users have given, the most axes of more than one
    device, or else comes first. Shardings and manual axes are said on it. A mesh of which axes are
    used that it has no parts for stays.
    """

    name: ClassVar[str] = "xla-sdy-round-trip-dedup-meshes"

    def run(self, module: IndexedModule) -> None:
        """Replace the meshes in place."""
        rewriting = _Rewriting(_kept_meshes(module.meshes.values()))
        if not rewriting.kept:
            return
        rewriting.look(module)
        rewriting.move(module)
        for op in module.ops(MESH):
            if symbol_name(op) in rewriting.kept:
                op.erase()
        module.ops_changed(MESH)
        module.meshes_changed()


def _kept_meshes(meshes: Iterable[Mesh]) -> dict[str, Mesh]:
    """Return the mesh to use for each that is to go, by name."""
    by_devices: dict[tuple[int, tuple[int, ...]], list[Mesh]] = {}
    for mesh in meshes:
        # One device with axes of size one is another thing than a mesh without axes.
        size = mesh.size if mesh.axes else 0
        by_devices.setdefault((size, mesh.device_ids), []).append(mesh)
    kept: dict[str, Mesh] = {}
    for same in by_devices.values():
        main = max(same, key=_preference)
        for mesh in same:
            if mesh is not main and mesh.name is not None and _fits(mesh, main):
                kept[mesh.name] = main
    return kept


def _preference(mesh: Mesh) -> tuple[bool, int]:
    has_made_up_names = bool(mesh.axes) and mesh.axes[0].name.startswith("_")
    return not has_made_up_names, sum(axis.size > 1 for axis in mesh.axes)


def _fits(mesh: Mesh, main: Mesh) -> bool:
    """Return whether every axis of `mesh` is something on `main`."""
    try:
        _on(mesh, main, map(AxisRef, mesh.axis_names))
    except _NoSuchPartError:
        return False
    return True


class _Rewriting:
    """Says shardings on other meshes.

    Attributes:
      kept: the mesh to use for each that goes, by name.

    """

    def __init__(self, kept: dict[str, Mesh]) -> None:
        self.kept = kept

    def look(self, module: IndexedModule) -> None:
        """Let meshes stay of which a sharding or manual axes cannot be said on another."""

        def look(sharding: TensorSharding) -> TensorSharding:
            if self._goes(sharding) and self._moved(sharding) is None:
                del self.kept[sharding.bound_mesh.name or ""]
            return sharding

        transform_shardings(module, look)
        for op, mesh in self._manual_computations(module):
            if self._manual_axes(op, mesh) is None:
                self.kept.pop(mesh.name or "", None)

    def move(self, module: IndexedModule) -> None:
        """Say all shardings and manual axes on the meshes that are kept."""
        for op, mesh in self._manual_computations(module):
            axes = self._manual_axes(op, mesh)
            if axes is not None:
                op.attributes["manual_axes"] = manual_axes_attribute(axes, module.context)

        def move(sharding: TensorSharding) -> TensorSharding:
            moved = self._moved(sharding) if self._goes(sharding) else None
            return sharding if moved is None else moved

        transform_shardings(module, move)

    def _goes(self, sharding: TensorSharding) -> bool:
        return sharding.mesh_name in self.kept

    def _manual_computations(self, module: IndexedModule) -> list[tuple[ir.Operation, Mesh]]:
        """Return the manual computations on meshes that go, with the mesh."""
        firsts = [(op, first_sharding(op, module.codec)) for op in module.ops(MANUAL_COMPUTATION)]
        return [(op, s.bound_mesh) for op, s in firsts if s is not None and self._goes(s)]

    def _moved(self, sharding: TensorSharding) -> TensorSharding | None:
        mesh = sharding.bound_mesh
        main = self.kept[mesh.name or ""]
        try:
            return replace(
                sharding,
                mesh=main,
                dimensions=tuple(
                    replace(dimension, axes=_on(mesh, main, dimension.axes))
                    for dimension in sharding.dimensions
                ),
                replicated=_on(mesh, main, sharding.replicated),
                unreduced=_on(mesh, main, sharding.unreduced),
            )
        except _NoSuchPartError:
            return None

    def _manual_axes(self, op: ir.Operation, mesh: Mesh) -> tuple[str, ...] | None:
        main = self.kept.get(mesh.name or "")
        if main is None:
            return None
        names = read_manual_axes(op.attributes["manual_axes"])
        try:
            axes = _on(mesh, main, map(AxisRef, names))
        except _NoSuchPartError:
            return None
        is_whole = all(axis.sub_axis is None for axis in axes)
        return tuple(axis.name for axis in axes) if is_whole else None


class _NoSuchPartError(Exception):
    """A mesh has no axes for what an axis of another mesh is."""


def _on(mesh: Mesh, main: Mesh, axes: Iterable[AxisRef]) -> tuple[AxisRef, ...]:
    """Return what axes of `mesh` are on `main`, merged where they are neighbours there."""
    found: list[AxisRef] = []
    for axis in axes:
        position = mesh.axis_names.index(axis.name)
        start = math.prod(mesh.shape[:position]) * axis.pre_size
        parts = axes_of_part((start, start * axis.size(mesh)), main)
        if parts is None:
            raise _NoSuchPartError
        found += parts
    return merge_adjacent_axes(found, main)
