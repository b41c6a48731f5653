"""The sharding of one value, wherever its kind of value keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.manual_axes import erase_manual_axes
from sdy.ir.attributes import SHARDING
from sdy.ir.data_flow import MANUAL_COMPUTATION, owning_op
from sdy.ir.op_names import FUNCTION
from sdy.ir.sharding_access import REGION_OPS, SHARDING_FIELDS, manual_axes, shardable_value
from sdy.ir.signature_attributes import signature_attribute

if TYPE_CHECKING:
    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.signature_attributes import Field

__all__ = ["function_result_sharding", "sharding_of"]


def sharding_of(value: ir.Value, codec: AttributeCodec) -> TensorSharding | None:
    """Return the sharding of a value; None where it has none or cannot have one.

    A target of a data-flow edge has the edge's sharding. A block argument of a `while` has the
    sharding of the result at the same place; one of a manual computation is local: its sharding
    has the free axes only.
    """
    place = shardable_value(value)
    if place is None:
        return None
    op = owning_op(place)
    if isinstance(place, ir.BlockArgument):
        return _of_argument(op, place.arg_number, codec)
    field = SHARDING_FIELDS.get(op.name)
    if field is not None:
        return codec.sharding(op.attributes[field]) if field in op.attributes else None
    field = "out_shardings" if op.name in REGION_OPS else SHARDING
    return _of_list(op, field, ir.OpResult(place).result_number, codec)


def _of_argument(op: ir.Operation, number: int, codec: AttributeCodec) -> TensorSharding | None:
    if op.name == FUNCTION:
        return _of_signature(op, "arg_attrs", number, codec)
    sharding = _of_list(op, "in_shardings", number, codec)
    if sharding is None or op.name != MANUAL_COMPUTATION:
        return sharding
    return erase_manual_axes(sharding, manual_axes(op))


def function_result_sharding(
    function: ir.Operation, index: int, codec: AttributeCodec
) -> TensorSharding | None:
    """Return the sharding of a result of a function; None where it has none."""
    return _of_signature(function, "res_attrs", index, codec)


def _of_signature(
    function: ir.Operation, field: Field, number: int, codec: AttributeCodec
) -> TensorSharding | None:
    attribute = signature_attribute(function, field, number, SHARDING)
    return None if attribute is None else codec.sharding(attribute)


def _of_list(
    op: ir.Operation, field: str, number: int, codec: AttributeCodec
) -> TensorSharding | None:
    return codec.shardings(op.attributes[field])[number] if field in op.attributes else None
