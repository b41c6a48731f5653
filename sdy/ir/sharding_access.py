"""Where the sharding of a value is kept in the IR, and how to set it there.

A function's argument keeps it in the function's argument attributes, a result in its op's
`sdy.sharding` or in a field of its own, and every target of a data-flow edge on the edge.
Reading one is `sdy.ir.value_sharding`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy as mlir_sdy

from sdy.dialect.sharding import TensorSharding
from sdy.ir.attributes import SHARDING
from sdy.ir.data_flow import (
    DATA_FLOW_EDGE,
    MANUAL_COMPUTATION,
    NAMED_COMPUTATION,
    edge_on,
    edge_owner_of_target,
    owning_op,
)
from sdy.ir.op_names import (
    ALL_GATHER,
    ALL_REDUCE,
    ALL_SLICE,
    ALL_TO_ALL,
    COLLECTIVE_PERMUTE,
    CONSTRAINT,
    FUNCTION,
    REDUCE_SCATTER,
    REPLICATED_TO_UNREDUCED,
    RESHARD,
    SHARDED_TO_UNREDUCED,
)
from sdy.ir.signature_attributes import named_attributes, set_signature_entries, signature_entries
from sdy.ir.types import rank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.signature_attributes import Field

__all__ = [
    "REGION_OPS",
    "SHARDING_FIELDS",
    "WITH_OWN_FIELDS",
    "manual_axes",
    "set_function_sharding",
    "set_sharding_of",
    "shardable_value",
]


# Ops whose arguments and results have `in_shardings` and `out_shardings`.
REGION_OPS = frozenset({MANUAL_COMPUTATION, NAMED_COMPUTATION})

# The field for the sharding of the one result, in the ops that have such a field.
SHARDING_FIELDS = {
    DATA_FLOW_EDGE: "sharding",
    CONSTRAINT: "sharding",
    RESHARD: "sharding",
    ALL_GATHER: "out_sharding",
    ALL_REDUCE: "out_sharding",
    ALL_SLICE: "out_sharding",
    ALL_TO_ALL: "out_sharding",
    COLLECTIVE_PERMUTE: "out_sharding",
    REDUCE_SCATTER: "out_sharding",
    REPLICATED_TO_UNREDUCED: "out_sharding",
    SHARDED_TO_UNREDUCED: "out_sharding",
}

# Ops that do not keep shardings in an attribute `sdy.sharding`.
WITH_OWN_FIELDS = frozenset({*REGION_OPS, *SHARDING_FIELDS, FUNCTION})


def manual_axes(manual_computation: ir.Operation) -> frozenset[str]:
    """Return the axes on which the body of a manual computation is local."""
    return frozenset(mlir_sdy.ManualAxesAttr(manual_computation.attributes["manual_axes"]))


def shardable_value(value: ir.Value) -> ir.Value | None:
    """Return the value that has the sharding of `value`; None where no place could hold one.

    For a target of a data-flow edge that is the edge's result, or the edge's owner where the
    module has no edges yet. The arguments of the body of a reduction can have no sharding.
    """
    owner = edge_owner_of_target(value)
    if owner is not None:
        edge = edge_on(owner)
        return owner if edge is None else edge.result
    if not isinstance(value, ir.BlockArgument):
        return value
    op = owning_op(value)
    if op.name == "stablehlo.async_start":
        return op.operands[value.arg_number]
    return value if op.name == FUNCTION else None


def set_sharding_of(value: ir.Value, sharding: TensorSharding, codec: AttributeCodec) -> None:
    """Set the sharding of a value; does nothing where no place could hold it.

    The other values of the same op become open where they have no sharding yet. `value` is not
    an argument of a manual computation without data-flow edges.
    """
    place = shardable_value(value)
    if place is None:
        return
    op = owning_op(place)
    if isinstance(place, ir.BlockArgument):
        if op.name == FUNCTION:
            set_function_sharding(op, "arg_attrs", place.arg_number, codec.attribute(sharding))
        else:
            arguments = op.regions[0].blocks[0].arguments
            _set_entry(op, "in_shardings", place.arg_number, sharding, arguments, codec)
        return
    field = SHARDING_FIELDS.get(op.name)
    if field is not None:
        op.attributes[field] = codec.attribute(sharding)
        return
    field = "out_shardings" if op.name in REGION_OPS else SHARDING
    _set_entry(op, field, ir.OpResult(place).result_number, sharding, op.results, codec)


def set_function_sharding(
    function: ir.Operation, field: Field, index: int, sharding: ir.Attribute | None
) -> None:
    """Set the sharding of an argument (`field` "arg_attrs") or result ("res_attrs").

    None takes it away.
    """
    if sharding is None and field not in function.attributes:
        return
    entries = signature_entries(function, field)
    changed = named_attributes(entries[index])
    if sharding is None:
        changed.pop(SHARDING, None)
    else:
        changed[SHARDING] = sharding
    entries[index] = ir.DictAttr.get(changed, function.context)
    set_signature_entries(function, field, entries)


def _set_entry(
    op: ir.Operation,
    field: str,
    index: int,
    sharding: TensorSharding,
    values: Sequence[ir.Value],
    codec: AttributeCodec,
) -> None:
    if field in op.attributes:
        shardings = list(codec.shardings(op.attributes[field]))
    else:
        shardings = [TensorSharding.fully_open(sharding.mesh, rank(v.type)) for v in values]
    shardings[index] = sharding
    op.attributes[field] = codec.list_attribute(tuple(shardings))
