"""How values are to be sharded where they are used by calls, data-flow edges and returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from jaxlib.mlir.dialects import sdy as mlir_sdy

from sdy.dialect.manual_axes import erase_manual_axes
from sdy.dialect.sharding import TensorSharding
from sdy.ir.attributes import SHARDING
from sdy.ir.data_flow import (
    MANUAL_COMPUTATION,
    edge_source_places,
    region_terminator,
)
from sdy.ir.data_flow_edges import block_argument_edge_owners
from sdy.ir.sharding_access import REGION_OPS, manual_axes
from sdy.ir.signature_attributes import signature_entries
from sdy.ir.types import rank

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jaxlib.mlir import ir

    from sdy.ir.attributes import AttributeCodec
    from sdy.passes.export_pipeline.explicit_reshards.value_types import ValueTypes

__all__ = ["UseTarget", "call_targets", "edge_targets", "return_targets"]


class UseTarget(NamedTuple):
    """How an operand of an op is to be sharded; None where nothing is said."""

    user: ir.Operation
    operand: int
    sharding: ir.Attribute | None


def edge_targets(op: ir.Operation, codec: AttributeCodec) -> Iterator[UseTarget]:
    """Yield the targets of the sources of all data-flow edges of an op.

    Each is sharded as the owner of the edge, seen from the source: inside of a manual computation
    there are no manual axes.
    """
    is_region_op = op.name in REGION_OPS
    field = "out_shardings" if is_region_op else SHARDING
    shardings = _list(op, field, len(op.results))
    if op.name == MANUAL_COMPUTATION:
        manual = manual_axes(op)
        local = (erase_manual_axes(s, manual) for s in codec.shardings(op.attributes[field]))
        shardings = list(map(codec.attribute, local))
    owners: list[tuple[ir.Value, ir.Attribute | None]] = []
    owners += zip(op.results, shardings, strict=True)
    if is_region_op:
        arguments = block_argument_edge_owners(op)
        owners += zip(arguments, _list(op, "in_shardings", len(arguments)), strict=True)
    for owner, sharding in owners:
        for user, index in edge_source_places(owner):
            yield UseTarget(user, index, sharding)


def call_targets(
    call: ir.Operation,
    arguments: tuple[ir.Attribute, ...] | None,
    types: ValueTypes,
    codec: AttributeCodec,
) -> Iterator[UseTarget]:
    """Yield the targets of the operands of a call: as the function says of its arguments.

    A function that says nothing takes them whole, if any of them is on several devices.
    """
    shardings = _whole(call, types, codec) if arguments is None else arguments
    for index, sharding in enumerate(shardings):
        yield UseTarget(call, index, sharding)


def return_targets(function: ir.Operation) -> Iterator[UseTarget]:
    """Yield the targets of what a function returns: as it says of its results."""
    if not len(function.regions[0].blocks):
        return
    terminator = region_terminator(function.regions[0])
    for index, entry in enumerate(signature_entries(function, "res_attrs")):
        sharding = entry[SHARDING] if SHARDING in entry else None  # noqa: SIM401 - it has no `get`
        yield UseTarget(terminator, index, sharding)


def _list(op: ir.Operation, field: str, count: int) -> list[ir.Attribute | None]:
    if field not in op.attributes:
        return [None] * count
    return list(mlir_sdy.TensorShardingPerValueAttr(op.attributes[field]).shardings)


def _whole(
    call: ir.Operation, types: ValueTypes, codec: AttributeCodec
) -> tuple[ir.Attribute, ...]:
    """Return for each operand that it is not split; nothing if no operand is on several devices."""
    operands = [types.type(number) for number in types.of_operands(call)]
    known = (codec.sharding(o.sharding) for o in operands if o.sharding is not None)
    mesh = next((s.mesh for s in known if not s.bound_mesh.is_maximal), None)
    if mesh is None:
        return ()
    whole = (TensorSharding.fully_closed(mesh, rank(operand.type)) for operand in operands)
    return tuple(map(codec.attribute, whole))
