"""Manual computations with operands that the body does not use, or with nothing manual."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sdy.ir.data_flow import MANUAL_COMPUTATION
from sdy.ir.sharding_access import manual_axes
from sdy.ir.use_order import move_uses, without_operands
from sdy.passes.canonicalize.driver import Rewriter, pattern
from sdy.passes.canonicalize.operations import is_unused

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.ir.attributes import AttributeCodec

__all__ = ["inline_redundant_manual_computation", "unused_manual_computation_inputs"]


@pattern(MANUAL_COMPUTATION)
def unused_manual_computation_inputs(op: ir.Operation, rewriter: Rewriter) -> bool:
    """Drop the operands whose block arguments are not used."""
    body = op.regions[0].blocks[0]
    unused = [i for i, argument in enumerate(body.arguments) if is_unused(argument)]
    if not unused:
        return False
    shardings = rewriter.codec.shardings(op.attributes["in_shardings"])
    attributes = {key: op.attributes[key] for key in op.attributes}
    attributes["in_shardings"] = rewriter.codec.list_attribute(
        tuple(sharding for i, sharding in enumerate(shardings) if i not in unused)
    )
    for i in reversed(unused):
        body.erase_argument(i)
    without_operands(op, unused, attributes)
    return True


@pattern(MANUAL_COMPUTATION)
def inline_redundant_manual_computation(op: ir.Operation, rewriter: Rewriter) -> bool:
    """Put the body in place of the op where all manual axes together have size one.

    Without operands and results there is no mesh that the axes could belong to: they count as one.
    """
    if _manual_size(op, rewriter.codec) != 1:
        return False
    body = op.regions[0].blocks[0]
    for argument, operand in zip(body.arguments, op.operands, strict=True):
        move_uses(argument, operand)
    *inner, terminator = [nested.operation for nested in body.operations]
    for nested in inner:
        rewriter.forget(nested)
        nested.move_before(op)
    for result, value in zip(op.results, terminator.operands, strict=True):
        result.replace_all_uses_with(value)
    rewriter.erase(op)
    return True


def _manual_size(op: ir.Operation, codec: AttributeCodec) -> int:
    """Return the product of the sizes of the manual axes."""
    shardings = (
        *codec.shardings(op.attributes["in_shardings"]),
        *codec.shardings(op.attributes["out_shardings"]),
    )
    meshes = (sharding.bound_mesh for sharding in shardings)
    mesh = next((mesh for mesh in meshes if not mesh.is_empty), None)
    return 1 if mesh is None else math.prod(map(mesh.axis_size, manual_axes(op)))
