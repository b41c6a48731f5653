"""Reshapes of what was reshaped before: XLA sees one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.ir.attributes import SHARDING
from sdy.ir.op_names import RESHARD

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["RESHAPE", "fold_reshapes"]

RESHAPE = "stablehlo.reshape"


def fold_reshapes(module: IndexedModule) -> None:
    """Let each reshape read what was reshaped; one that gives it back as it was goes."""
    for op in module.ops(RESHAPE):
        source = op.operands[0]
        while _is_reshaped(source):
            source = source.owner.operands[0]
        op.operands[0] = source
        if source.type == op.results[0].type:
            op.results[0].replace_all_uses_with(_resharded(op, module))
            op.erase()
    module.ops_changed()


def _is_reshaped(value: ir.Value) -> bool:
    owner = value.owner
    return isinstance(owner, ir.Operation | ir.OpView) and owner.operation.name == RESHAPE


def _resharded(op: ir.Operation, module: IndexedModule) -> ir.Value:
    """Return the operand of an op with the sharding of its result, if that has one."""
    if SHARDING not in op.attributes:
        return op.operands[0]
    sharding = module.codec.shardings(op.attributes[SHARDING])[0]
    return ir.Operation.create(
        RESHARD,
        results=[op.results[0].type],
        operands=[op.operands[0]],
        attributes={"sharding": module.codec.attribute(sharding)},
        loc=op.location,
        ip=ir.InsertionPoint(op),
    ).results[0]
