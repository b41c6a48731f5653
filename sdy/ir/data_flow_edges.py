"""Adds `sdy.data_flow_edge` ops to values that own an edge, and reads their shardings."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from jaxlib.mlir import ir

from sdy.dialect.sharding import TensorSharding
from sdy.ir.data_flow import DATA_FLOW_EDGE, edge_on
from sdy.ir.types import is_static_shaped, rank
from sdy.ir.value_sharding import sharding_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sdy.ir.attributes import AttributeCodec

__all__ = [
    "EdgeLists",
    "OwnedEdge",
    "add_edges",
    "block_argument_edge_owners",
    "edge_shardings",
    "insertion_point_after",
]

OwnedEdge: TypeAlias = tuple[int, ir.Operation]
"""An edge, behind the number of its owner among those that may get edges."""


def block_argument_edge_owners(op: ir.Operation) -> Sequence[ir.Value]:
    """Return the arguments of the body of a manual or named computation."""
    arguments: Sequence[ir.Value] = op.regions[0].blocks[0].arguments
    return arguments


def insertion_point_after(value: ir.Value) -> ir.InsertionPoint:
    """Return the place right after the definition of a value."""
    if isinstance(value, ir.BlockArgument):
        return ir.InsertionPoint.at_block_begin(value.owner)
    return ir.InsertionPoint.after(value.owner.operation)


def add_edges(owners: Iterable[ir.Value], codec: AttributeCodec) -> list[OwnedEdge]:
    """Put an edge with the owner's sharding on every owner; return them in the owners' order.

    All uses of an owner become uses of its edge. What is no tensor of known size, such as a
    token, gets no edge.
    """
    # The last first, each right behind its owner's op: so they stand in the order of the owners.
    tensors = [(n, owner) for n, owner in enumerate(owners) if is_static_shaped(owner.type)]
    tensors.reverse()
    edges: list[OwnedEdge] = []
    for number, owner in tensors:
        sharding = sharding_of(owner, codec)
        attributes = {} if sharding is None else {"sharding": codec.attribute(sharding)}
        edges.append((number, _put_edge(owner, attributes, insertion_point_after(owner))))
    return edges[::-1]


def _put_edge(
    owner: ir.Value, attributes: dict[str, ir.Attribute], place: ir.InsertionPoint
) -> ir.Operation:
    # By position: nanobind is faster so.
    edge = ir.Operation.create(
        DATA_FLOW_EDGE, [owner.type], [owner], attributes, None, 0, owner.location, place
    ).operation
    owner.replace_all_uses_except(edge.result, edge)
    return edge


class EdgeLists:
    """Adds edges to the arguments and results of named computations, fast for many of them."""

    def __init__(self, codec: AttributeCodec, *, has_edges: bool) -> None:
        """Add no edges yet.

        Args:
          codec: reads the shardings of the computations.
          has_edges: whether arguments or results may have edges already, which suffice then.

        """
        self._codec = codec
        self._has_edges = has_edges
        self._attributes: dict[ir.Attribute, list[dict[str, ir.Attribute]]] = {}
        self._is_static: dict[ir.Type, bool] = {}

    def add(self, computation: ir.Operation) -> tuple[list[OwnedEdge], list[OwnedEdge]]:
        """Add edges with the owners' shardings, as `add_edges` does; return them.

        Those on results come second.
        """
        body = computation.regions[0].blocks[0]
        attributes = computation.attributes
        on_arguments = self._put(
            list(body.arguments),
            attributes.get("in_shardings"),
            ir.InsertionPoint.at_block_begin(body),
        )
        on_results = self._put(
            list(computation.results),
            attributes.get("out_shardings"),
            ir.InsertionPoint.after(computation),
        )
        return on_arguments, on_results

    def _put(
        self, owners: list[ir.Value], shardings: ir.Attribute | None, place: ir.InsertionPoint
    ) -> list[OwnedEdge]:
        known = None if shardings is None else self._of_list(shardings)
        edges: list[OwnedEdge] = []
        for number, owner in enumerate(owners):
            if self._is_tensor(owner) and not (self._has_edges and edge_on(owner) is not None):
                attributes = {} if known is None else known[number]
                edges.append((number, _put_edge(owner, attributes, place)))
        return edges

    def _of_list(self, shardings: ir.Attribute) -> list[dict[str, ir.Attribute]]:
        known = self._attributes.get(shardings)
        if known is None:
            codec = self._codec
            known = [{"sharding": codec.attribute(each)} for each in codec.shardings(shardings)]
            self._attributes[shardings] = known
        return known

    def _is_tensor(self, value: ir.Value) -> bool:
        kind = value.type
        known = self._is_static.get(kind)
        if known is None:
            known = self._is_static[kind] = is_static_shaped(kind)
        return known


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
