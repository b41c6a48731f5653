"""Gives every mesh that is written out in a sharding a name in the module."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.dialect.names import quote, symbol
from sdy.ir.attributes import read_mesh
from sdy.ir.op_names import MESH
from sdy.ir.sharding_walk import distinct_shardings, transform_shardings
from sdy.ir.symbols import SymbolNames, symbol_name
from sdy.passes.base import Pass

if TYPE_CHECKING:
    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["LiftInlinedMeshes"]

_STABLEHLO_MESH = "stablehlo.mesh"
_REPLICA_GROUPS = "replica_groups"

_COLLECTIVES = (
    "stablehlo.all_gather",
    "stablehlo.all_reduce",
    "stablehlo.reduce_scatter",
    "stablehlo.all_to_all",
    "stablehlo.collective_broadcast",
)
_MESH_AXES_GROUPS = re.compile(
    r"(?P<start>#stablehlo\.replica_group_mesh_axes<mesh = )(?P<mesh>.*)(?P<end>, axes = \[.*\]>)"
)
_STABLEHLO_AXIS = re.compile(r'<name = ("(?:[^"\\]|\\.)*"), size = (\d+)>')


@dataclass(frozen=True, slots=True)
class LiftInlinedMeshes(Pass):
    """Replaces meshes that are inlined in shardings by names of meshes in the module.

    A mesh that the module has already is referred to by its name; a new one becomes
    `@maximal_mesh_{device}`, `@empty_mesh` or the first free name of `@mesh`, `@mesh_0`, ...
    Meshes that are equal become one, under the first name. The mesh of a collective's replica
    groups is lifted too. Every mesh says `stablehlo.mesh` as a dictionary afterwards.
    """

    name: ClassVar[str] = "sdy-lift-inlined-meshes"

    def run(self, module: IndexedModule) -> None:
        """Lift the meshes in place."""
        lifting = _Lifting(module)
        lifting.merge_equal_meshes()
        lifting.note_stablehlo_meshes()
        lifting.lift_from_shardings()
        lifting.lift_from_replica_groups()
        lifting.finish()


class _Lifting:
    """One run of the pass.

    Attributes:
      _names: the name of each mesh of the module, by the mesh without name.
      _renamed: the name to use for each name of a mesh that was a copy of another.

    """

    def __init__(self, module: IndexedModule) -> None:
        self._module = module
        self._symbols = SymbolNames(module)
        self._names: dict[Mesh, str] = {}
        self._renamed: dict[str, str] = {}
        self._stablehlo_names: dict[str, str] = {}
        self._last_mesh: ir.Operation | None = None
        self._has_new = False

    def merge_equal_meshes(self) -> None:
        """Erase the copies of meshes; references to them still stand."""
        copies: list[ir.Operation] = []
        kept: list[int] = []
        for place, op in enumerate(self._module.root_ops()):
            if op.name == MESH:
                name = symbol_name(op)
                first = self._names.setdefault(read_mesh(op.attributes["mesh"]), name)
                if first != name:
                    self._renamed[name] = first
                    self._symbols.release(name)
                    copies.append(op)
                    continue
                self._last_mesh = op
            kept.append(place)
        if copies:
            self._module.keep_roots(kept)
        for op in copies:
            op.erase()

    def _mesh_ops(self) -> list[ir.Operation]:
        return [op for op in self._module.root_ops() if op.name == MESH]

    def lift_from_shardings(self) -> None:
        """Refer to meshes by name in every sharding."""
        found = distinct_shardings(self._module)
        has_inlined = any(sharding.mesh_name is None for sharding in found)
        if has_inlined or any(sharding.mesh_name in self._renamed for sharding in found):
            # New names depend on the order in which meshes are met.
            transform_shardings(self._module, self._lift, in_order=has_inlined)

    def _lift(self, sharding: TensorSharding) -> TensorSharding:
        name = sharding.mesh_name
        if name is None:
            return replace(sharding, mesh=self._name_of(sharding.bound_mesh))
        return replace(sharding, mesh=self._renamed[name]) if name in self._renamed else sharding

    def _name_of(self, mesh: Mesh) -> str:
        known = self._names.get(mesh)
        if known is None:
            known = self._add(_proposed_name(mesh), mesh, self._module.operation.location)
            self._names[mesh] = known
        return known

    def _add(self, proposed: str, mesh: Mesh, location: ir.Location) -> str:
        name = self._symbols.claim(proposed)
        attribute = ir.Attribute.parse(f"#sdy.mesh<{mesh.body}>")
        attributes = {"sym_name": ir.StringAttr.get(name), "mesh": attribute}
        op = ir.Operation.create(MESH, attributes=attributes, loc=location, ip=self._place())
        self._last_mesh = op
        self._has_new = True
        return name

    def _place(self) -> ir.InsertionPoint:
        if self._last_mesh is None:
            return ir.InsertionPoint.at_block_begin(self._module.module.body)
        return ir.InsertionPoint.after(self._last_mesh)

    def lift_from_replica_groups(self) -> None:
        """Refer to meshes by name in the replica groups of collectives."""
        for name in _COLLECTIVES:
            ops = self._module.read_ops(name)
            changed = [
                place
                for place, op in enumerate(ops)
                if _REPLICA_GROUPS in op.attributes and self._lift_groups(op)
            ]
            self._module.attributes_changed(name, changed)

    def _lift_groups(self, op: ir.Operation) -> bool:
        """Refer to a mesh by name in one collective; return whether that changes it."""
        groups = _MESH_AXES_GROUPS.fullmatch(str(op.attributes[_REPLICA_GROUPS]))
        if groups is None:
            return False
        mesh = ir.Attribute.parse(groups["mesh"])
        if isinstance(mesh, ir.FlatSymbolRefAttr):
            name = self._renamed.get(mesh.value)
            if name is None:
                return False
        else:
            name = self._name_of_stablehlo_mesh(groups["mesh"], op.location)
        text = f"{groups['start']}@{symbol(name)}{groups['end']}"
        op.attributes[_REPLICA_GROUPS] = ir.Attribute.parse(text)
        return True

    def _name_of_stablehlo_mesh(self, text: str, location: ir.Location) -> str:
        known = self._stablehlo_names.get(text)
        if known is None:
            axes = ", ".join(f"{name}={size}" for name, size in _STABLEHLO_AXIS.findall(text))
            mesh = read_mesh(ir.Attribute.parse(f"#sdy.mesh<[{axes}]>"))
            known = self._add("mesh", mesh, location)
            self._stablehlo_names[text] = known
        return known

    def note_stablehlo_meshes(self) -> None:
        """Say `stablehlo.mesh` on every mesh."""
        changed: list[int] = []
        for place, op in enumerate(self._mesh_ops()):
            if _STABLEHLO_MESH not in op.attributes:
                op.attributes[_STABLEHLO_MESH] = _as_dictionary(read_mesh(op.attributes["mesh"]))
                changed.append(place)
        self._module.attributes_changed(MESH, changed)

    def finish(self) -> None:
        """Finish what new meshes say, and tell the module of them."""
        if self._has_new:
            self._module.ops_changed(MESH)
            self.note_stablehlo_meshes()
        if self._has_new or self._renamed:
            self._module.meshes_changed()


def _proposed_name(mesh: Mesh) -> str:
    if mesh.is_maximal:
        return f"maximal_mesh_{mesh.device_ids[0]}"
    return "empty_mesh" if mesh.is_empty else "mesh"


def _as_dictionary(mesh: Mesh) -> ir.Attribute:
    axes = ", ".join(f"{{name = {quote(axis.name)}, size = {axis.size}}}" for axis in mesh.axes)
    fields = [f"axes = [{axes}]"]
    if mesh.device_ids:
        ids = ", ".join(map(str, mesh.device_ids))
        fields.append(f"device_ids = dense<[{ids}]> : tensor<{len(mesh.device_ids)}xi64>")
    return ir.Attribute.parse("{" + ", ".join(fields) + "}")
