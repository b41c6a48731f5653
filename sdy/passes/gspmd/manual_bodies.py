"""The body of a manual computation as a function of its own, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.ir.data_flow import MANUAL_COMPUTATION, region_terminator
from sdy.ir.named_computations import move_body
from sdy.ir.op_names import FUNCTION, RETURN, SDY_RETURN
from sdy.ir.symbols import SYMBOL, VISIBILITY
from sdy.passes.gspmd.manual_axes_attribute import manual_axes_attribute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.attributes import AttributeCodec

__all__ = ["ManualInterface", "create_manual_computation", "inline_body", "outline_body"]


@dataclass(frozen=True, slots=True)
class ManualInterface:
    """What a manual computation takes and gives.

    Attributes:
      operands: the values from outside.
      result_types: the types outside.
      in_shardings: of the operands.
      out_shardings: of the results.
      manual_axes: the axes along which the body is local.

    """

    operands: Sequence[ir.Value]
    result_types: Sequence[ir.Type]
    in_shardings: Sequence[TensorSharding]
    out_shardings: Sequence[TensorSharding]
    manual_axes: tuple[str, ...]


def create_manual_computation(
    before: ir.Operation,
    function: ir.Operation,
    interface: ManualInterface,
    codec: AttributeCodec,
) -> ir.Operation:
    """Create a manual computation before an op; the body of `function` moves into it."""
    op = ir.Operation.create(
        MANUAL_COMPUTATION,
        results=list(interface.result_types),
        operands=list(interface.operands),
        attributes={
            "in_shardings": codec.list_attribute(tuple(interface.in_shardings)),
            "out_shardings": codec.list_attribute(tuple(interface.out_shardings)),
            "manual_axes": manual_axes_attribute(interface.manual_axes, before.context),
        },
        regions=1,
        loc=before.location,
        ip=ir.InsertionPoint(before),
    )
    move_body(function, op, SDY_RETURN)
    return op


def outline_body(
    op: ir.Operation, name: str, place: ir.InsertionPoint, *, is_private: bool = True
) -> ir.Operation:
    """Move the body of a manual computation to a new function, and return that."""
    arguments = [argument.type for argument in op.regions[0].blocks[0].arguments]
    results = [operand.type for operand in region_terminator(op.regions[0]).operands]
    context = op.context
    kind = ir.FunctionType.get(arguments, results, context)
    attributes: dict[str, ir.Attribute] = {
        SYMBOL: ir.StringAttr.get(name, context),
        "function_type": ir.TypeAttr.get(kind, context),
    }
    if is_private:
        attributes[VISIBILITY] = ir.StringAttr.get("private", context)
    function = ir.Operation.create(
        FUNCTION, attributes=attributes, regions=1, loc=op.location, ip=place
    )
    move_body(op, function, RETURN)
    return function


def inline_body(op: ir.Operation) -> None:
    """Put the ops of a manual computation's body in its place."""
    block = op.regions[0].blocks[0]
    terminator = region_terminator(op.regions[0])
    for argument, operand in zip(block.arguments, op.operands, strict=True):
        argument.replace_all_uses_with(operand)
    for result, operand in zip(op.results, terminator.operands, strict=True):
        result.replace_all_uses_with(operand)
    terminator.erase()
    for inner in [each.operation for each in block.operations]:
        inner.move_before(op)
    op.erase()
