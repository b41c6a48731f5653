"""Removes all shardings and meshes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.ir.attribute_removal import remove_attributes, remove_signature_attributes
from sdy.ir.attributes import SHARDING
from sdy.ir.op_names import MESH
from sdy.passes.base import Pass

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["DropShardingAndMesh"]


@dataclass(frozen=True, slots=True)
class DropShardingAndMesh(Pass):
    """Removes `sdy.sharding` from every op, argument and result, and all `sdy.mesh` ops.

    What is left of sdy must not refer to a mesh: the pass is for modules of local shapes.
    """

    name: ClassVar[str] = "sdy-drop-sharding-and-mesh"

    def run(self, module: IndexedModule) -> None:
        """Remove them in place."""
        remove_attributes((op for _, op in module.in_order), (SHARDING,))
        remove_signature_attributes(module, (SHARDING,))
        meshes = module.ops(MESH)
        module.replace_ops(dict.fromkeys(meshes, ()))
        for mesh in meshes:
            mesh.erase()
        module.meshes_changed()
