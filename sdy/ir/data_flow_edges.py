"""Adds `sdy.data_flow_edge` ops to values that own an edge, and reads their shardings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.sharding import TensorSharding
from sdy.ir.data_flow import DATA_FLOW_EDGE, edge_on
from sdy.ir.types import is_static_shaped, rank
from sdy.ir.value_sharding import sharding_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sdy.ir.attributes import AttributeCodec

__all__ = [
    "add_edges",
    "block_argument_edge_owners",
    "edge_shardings",
    "insertion_point_after",
]


def block_argument_edge_owners(op: ir.Operation) -> Sequence[ir.Value]:
    """Return the arguments of the body of a manual or named computation."""
    arguments: Sequence[ir.Value] = op.regions[0].blocks[0].arguments
    return arguments


def insertion_point_after(value: ir.Value) -> ir.InsertionPoint:
    """Return the place right after the definition of a value."""
    if isinstance(value, ir.BlockArgument):
        return ir.InsertionPoint.at_block_begin(value.owner)
    return ir.InsertionPoint.after(value.owner.operation)


def add_edges(owners: Iterable[ir.Value], codec: AttributeCodec) -> list[ir.Operation]:
    """Put an edge with the owner's sharding on every owner; return them in the owners' order.

    All uses of an owner become uses of its edge. What is no tensor of known size, such as a
    token, gets no edge.
    """
    # The last first, each right behind its owner's op: so they stand in the order of the owners.
    tensors = [owner for owner in owners if is_static_shaped(owner.type)]
    return [_add_edge(owner, codec) for owner in reversed(tensors)][::-1]


def _add_edge(owner: ir.Value, codec: AttributeCodec) -> ir.Operation:
    sharding = sharding_of(owner, codec)
    edge = ir.Operation.create(
        DATA_FLOW_EDGE,
        results=[owner.type],
        operands=[owner],
        attributes={} if sharding is None else {"sharding": codec.attribute(sharding)},
        loc=owner.location,
        ip=insertion_point_after(owner),
    )
    owner.replace_all_uses_except(edge.result, edge)
    return edge


def edge_shardings(owners: Sequence[ir.Value], codec: AttributeCodec) -> tuple[TensorSharding, ...]:
    """Return the shardings of the owners' edges, open where there is none; () if none has one."""
    edges = map(edge_on, owners)
    found = [
        None if edge is None or "sharding" not in edge.attributes else edge.attributes["sharding"]
        for edge in edges
    ]
    known = [None if entry is None else codec.sharding(entry) for entry in found]
    mesh = next((sharding.mesh for sharding in known if sharding is not None), None)
    if mesh is None:
        return ()
    return tuple(
        TensorSharding.fully_open(mesh, rank(owner.type)) if sharding is None else sharding
        for owner, sharding in zip(owners, known, strict=True)
    )
