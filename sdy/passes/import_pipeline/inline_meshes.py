"""Writes meshes out in every sharding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from sdy.ir.op_names import MESH
from sdy.ir.sharding_walk import transform_shardings
from sdy.passes.base import Pass

if TYPE_CHECKING:
    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["InlineMeshes"]


@dataclass(frozen=True, slots=True)
class InlineMeshes(Pass):
    """Replaces names of meshes in shardings by the meshes, and removes all `sdy.mesh` ops."""

    name: ClassVar[str] = "sdy-inline-meshes"

    def run(self, module: IndexedModule) -> None:
        """Inline the meshes in place."""
        transform_shardings(module, _inline)
        meshes = module.ops(MESH)
        if not meshes:
            return
        module.replace_ops(dict.fromkeys(meshes, ()))
        for mesh in meshes:
            mesh.erase()
        module.meshes_changed()


def _inline(sharding: TensorSharding) -> TensorSharding:
    return replace(sharding, mesh=sharding.bound_mesh.renamed(None))
