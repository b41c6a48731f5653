"""Where HloShardings have names, those around a manual computation say what it is like."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.ir.attributes import SHARDING
from sdy.ir.diagnostics import op_error
from sdy.passes.gspmd.frontend_attributes import set_frontend_attributes
from sdy.passes.gspmd.shape_changes import constraint_on
from sdy.passes.gspmd.xla_names import (
    CUSTOM_CALL,
    GLOBAL_TO_LOCAL,
    IN_SHARDINGS,
    LOCAL_TO_GLOBAL,
    MANUAL_AXES,
    OUT_SHARDINGS,
    SHARDING_TARGET,
    target_of,
)

if TYPE_CHECKING:
    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["read_named_interfaces"]


def read_named_interfaces(module: IndexedModule) -> None:
    """Write what shardings say of manual computations as frontend attributes, in place.

    The `@Sharding` custom calls before `@xla.sdy.GlobalToLocalShape` say how operands are sharded;
    that itself, and the call of the body, along which axes the body is local; and
    `@xla.sdy.LocalToGlobalShape` how results are sharded.
    """
    calls = [(op, target_of(op)) for op in module.ops(CUSTOM_CALL) if SHARDING in op.attributes]
    for op, target in calls:
        if target == GLOBAL_TO_LOCAL:
            in_shardings = module.codec.list_attribute(_take_in_shardings(op, module.codec))
            _describe(op, {IN_SHARDINGS: in_shardings}, op)
        elif target == LOCAL_TO_GLOBAL:
            local = op.operands[0].owner if len(op.operands) else None
            _describe(op, {OUT_SHARDINGS: op.attributes[SHARDING]}, local)
    module.ops_changed()


def _describe(
    op: ir.Operation, shardings: dict[str, ir.Attribute], local: ir.Operation | ir.Block | None
) -> None:
    """Give an op the frontend attributes, with the manual axes of a local one if it has any."""
    if local is not None and not isinstance(local, ir.Block):
        axes = local.operation.attributes.get(MANUAL_AXES)
        shardings = shardings if axes is None else {**shardings, MANUAL_AXES: axes}
    set_frontend_attributes(op, shardings)
    del op.attributes[SHARDING]


def _take_in_shardings(op: ir.Operation, codec: AttributeCodec) -> tuple[TensorSharding, ...]:
    """Take the constraints on an op's operands away; return their shardings."""
    local = codec.shardings(op.attributes[SHARDING])
    if len(local) != len(op.operands):
        raise op_error(op, f"expected one result for each of its {len(op.operands)} operands")
    return tuple(
        _take_in_sharding(op, number, local[number], codec) for number in range(len(local))
    )


def _take_in_sharding(
    op: ir.Operation, number: int, local: TensorSharding, codec: AttributeCodec
) -> TensorSharding:
    operand = op.operands[number]
    if not isinstance(operand.type, ir.ShapedType):
        return local
    constraint = constraint_on(operand)
    if constraint is None:
        raise op_error(op, f"expected every operand to come from @{SHARDING_TARGET}")
    (sharding,) = codec.shardings(constraint.attributes[SHARDING])
    op.operands[number] = constraint.operands[0]
    if next(iter(constraint.results[0].uses), None) is None:
        constraint.erase()
    return sharding
