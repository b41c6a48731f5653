"""Makes shardings of manual computations name all manual axes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy as mlir_sdy

from sdy.dialect.axes import AxisRef, axes_without, merge_adjacent_axes
from sdy.dialect.sharding import ManualAxes
from sdy.ir.data_flow import MANUAL_COMPUTATION
from sdy.ir.diagnostics import op_error
from sdy.ir.op_names import SDY_RETURN
from sdy.passes.base import Pass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["ManualAxesCleanup"]

_MANUAL_AXES = "manual_axes"


@dataclass(frozen=True, slots=True)
class ManualAxesCleanup(Pass):
    """Makes every in and out sharding of a manual computation name all of its manual axes.

    A manual axis that a sharding does not name becomes explicitly replicated there. The list of
    manual axes is put in the order of the mesh.
    """

    name: ClassVar[str] = "sdy-manual-axes-cleanup"

    def run(self, module: IndexedModule) -> None:
        """Change the shardings; an error where a body has manual axes and no in or out values."""
        computations = module.read_ops(MANUAL_COMPUTATION)
        changed = [n for n, op in enumerate(computations) if _clean_up(op, module.codec)]
        module.attributes_changed(MANUAL_COMPUTATION, changed)


def _clean_up(op: ir.Operation, codec: AttributeCodec) -> bool:
    """Clean up one computation; return whether that changes it."""
    in_shardings = codec.shardings(op.attributes["in_shardings"])
    out_shardings = codec.shardings(op.attributes["out_shardings"])
    names = tuple(mlir_sdy.ManualAxesAttr(op.attributes[_MANUAL_AXES]))
    if not in_shardings and not out_shardings:
        if names and op.regions[0].blocks[0].operations[0].operation.name != SDY_RETURN:
            raise op_error(
                op,
                "op has manual_axes when there are no in/out shardings and the body is not empty",
            )
        return False
    mesh = _common_mesh((*in_shardings, *out_shardings))
    in_order = tuple(sorted(names, key=mesh.axis_index))
    has_changed = in_order != names
    if has_changed:
        op.attributes[_MANUAL_AXES] = ir.Attribute.parse(f"#sdy<{ManualAxes(in_order)}>")
    for field, shardings, values in (
        ("in_shardings", in_shardings, op.operands),
        ("out_shardings", out_shardings, op.results),
    ):
        complete = tuple(
            _with_all_axes(sharding, in_order, mesh)
            if isinstance(value.type, ir.ShapedType)
            else sharding
            for sharding, value in zip(shardings, values, strict=True)
        )
        if complete != shardings:
            op.attributes[field] = codec.list_attribute(complete)
            has_changed = True
    return has_changed


def _common_mesh(shardings: Iterable[TensorSharding]) -> Mesh:
    """Return the first mesh that is not empty; the last one where all are."""
    meshes = [sharding.bound_mesh for sharding in shardings]
    return next((mesh for mesh in meshes if not mesh.is_empty), meshes[-1])


def _with_all_axes(
    sharding: TensorSharding, manual_axes: Iterable[str], mesh: Mesh
) -> TensorSharding:
    unused = axes_without(map(AxisRef, manual_axes), sharding.axes(), mesh)
    if not unused:
        return sharding
    replicated = sorted((*sharding.replicated, *unused), key=lambda axis: axis.mesh_order(mesh))
    return replace(sharding, mesh=mesh, replicated=merge_adjacent_axes(replicated, mesh))
