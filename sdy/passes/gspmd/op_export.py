"""Ops of the sdy dialect as the ops that XLA's partitioner has for them.

The choice of ops is that of XLA's own export: a change of sharding is a copy, a constraint is
a `@Sharding` custom call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _mlirHlo

from sdy.ir.constants import copy_constant_as
from sdy.ir.data_flow import DATA_FLOW_EDGE
from sdy.ir.diagnostics import op_error
from sdy.ir.op_names import (
    ALL_GATHER,
    ALL_REDUCE,
    ALL_SLICE,
    ALL_TO_ALL,
    BARRIER,
    COLLECTIVE_PERMUTE,
    CONSTRAINT,
    FUNC_EDGE,
    GROUP,
    MESH,
    MHLO_COPY,
    REDUCE_SCATTER,
    RESHARD,
    SDY_CONSTANT,
)
from sdy.ir.replacement import create_for
from sdy.passes.gspmd.hlo_shardings import HLO_SHARDING, says_nothing, unspecified_dims

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.ir.indexed_module import IndexedModule
    from sdy.passes.gspmd.hlo_shardings import HloShardingAttributes

__all__ = ["check_exportable", "export_ops", "register_copy"]

_COPIES = {
    RESHARD: "sharding",
    ALL_GATHER: "out_sharding",
    ALL_SLICE: "out_sharding",
    ALL_TO_ALL: "out_sharding",
    COLLECTIVE_PERMUTE: "out_sharding",
    REDUCE_SCATTER: "out_sharding",
}
# The partitioner itself adds the all-reduce that a contraction over a split dimension needs.
_IDENTITIES = (BARRIER, ALL_REDUCE)

_EXPORTED = frozenset({MESH, CONSTRAINT, SDY_CONSTANT, GROUP, *_COPIES, *_IDENTITIES})
_SPENT_BY_PROPAGATION = frozenset({GROUP, BARRIER})
_REMEDIES = {
    DATA_FLOW_EDGE: "run sdy-sink-data-flow-edges first",
    FUNC_EDGE: "run sdy-sink-data-flow-edges first",
}


def check_exportable(module: IndexedModule, *, complete: bool) -> None:
    """Raise `sdy.Error` at the first op of the sdy dialect that has no image in XLA."""
    for name, ops in module.ops_by_name.items():
        if not name.startswith("sdy."):
            continue
        if name not in _EXPORTED:
            remedy = _REMEDIES.get(name, "no op of XLA stands for it")
            raise op_error(ops[0], f"'{name}' cannot be exported to GSPMD: {remedy}")
        if name in _SPENT_BY_PROPAGATION and not complete:
            raise op_error(ops[0], f"'{name}' cannot be exported to GSPMD: propagate first")


def export_ops(module: IndexedModule, attributes: HloShardingAttributes, *, complete: bool) -> None:
    """Replace every op of the sdy dialect but the meshes."""
    for name, key in _COPIES.items():
        for op in module.ops(name):
            sharding = attributes.of_tensor(op, op.attributes[key])
            _replace(op, MHLO_COPY, [op.operands[0]], {HLO_SHARDING: sharding})
    for op in module.ops(CONSTRAINT):
        _export_constraint(op, module, attributes, complete=complete)
    for op in module.ops(SDY_CONSTANT):
        constant = copy_constant_as("stablehlo.constant", op)
        op.result.replace_all_uses_with(constant.result)
        op.erase()
    for name in _IDENTITIES:
        for op in module.ops(name):
            op.results[0].replace_all_uses_with(op.operands[0])
            op.erase()
    for op in module.ops(GROUP):
        op.erase()


def _export_constraint(
    op: ir.Operation,
    module: IndexedModule,
    attributes: HloShardingAttributes,
    *,
    complete: bool,
) -> None:
    attribute = op.attributes["sharding"]
    sharding = module.codec.sharding(attribute)
    if not complete and says_nothing(sharding):
        op.results[0].replace_all_uses_with(op.operands[0])
        op.erase()
        return
    named = {
        "call_target_name": ir.StringAttr.get("Sharding", module.context),
        HLO_SHARDING: attributes.of_tensor(op, attribute),
    }
    unspecified = "" if complete else unspecified_dims(sharding)
    if unspecified:
        named["backend_config"] = ir.StringAttr.get(unspecified, module.context)
    _replace(op, "stablehlo.custom_call", [op.operands[0]], named)


def _replace(
    op: ir.Operation,
    name: str,
    operands: Sequence[ir.Value],
    attributes: dict[str, ir.Attribute],
) -> None:
    new = create_for(op, name, attributes, operands=operands)
    for old_result, result in zip(op.results, new.results, strict=True):
        old_result.replace_all_uses_with(result)
    op.erase()


def register_copy(context: ir.Context) -> None:
    """Make `mhlo.copy` known to a context; it is in no other dialect."""
    if not context.is_registered_operation(MHLO_COPY):
        _mlirHlo.register_mhlo_dialect(context)
