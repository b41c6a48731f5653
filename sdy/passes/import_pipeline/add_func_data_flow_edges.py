"""Marks where values pass between functions, so that their sharding has a place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.ir.attributes import SHARDING
from sdy.ir.data_flow_edges import insertion_point_after
from sdy.ir.main_function import main_function
from sdy.ir.op_names import CALL, FUNC_EDGE, FUNCTION
from sdy.ir.types import is_static_shaped
from sdy.ir.value_sharding import sharding_of
from sdy.passes.base import Pass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.data_flow_edges import OwnedEdge
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["AddFuncDataFlowEdges"]


@dataclass(frozen=True, slots=True)
class AddFuncDataFlowEdges(Pass):
    """Inserts an `sdy.func_data_flow_edge` for arguments of functions and results of calls.

    Arguments of the main function get none: it is the one named main, or the only one. The edge
    takes the sharding of its value and replaces it in all uses.
    """

    name: ClassVar[str] = "sdy-add-func-data-flow-edges"

    def run(self, module: IndexedModule) -> None:
        """Insert the edges in place; an error where none of several functions is main."""
        main = main_function(module, is_read_only=True)
        functions, calls = module.read_ops(FUNCTION), module.read_ops(CALL)
        module.structure  # noqa: B018 - so that ops have the numbers of one
        edit = module.edit()
        for number, function in zip(edit.numbers(FUNCTION), functions, strict=True):
            body = function.regions[0]
            if function != main and len(body.blocks):
                arguments = body.blocks[0].arguments
                edges = _add_edges(arguments, function.location, module.codec)
                edit.insert_edges(FUNC_EDGE, edges, edit.arguments(number), number, number + 1)
        for number, call in zip(edit.numbers(CALL), calls, strict=True):
            edges = _add_edges(call.results, call.location, module.codec)
            edit.insert_edges(
                FUNC_EDGE, edges, edit.results(number), edit.parent(number), number + 1
            )
        module.apply(edit)


def _add_edges(
    values: Sequence[ir.Value], location: ir.Location, codec: AttributeCodec
) -> list[OwnedEdge]:
    # The last first, each right behind what defines its value: so they stand in order.
    edges: list[OwnedEdge] = []
    for number, value in reversed(list(enumerate(values))):
        if is_static_shaped(value.type):
            sharding = sharding_of(value, codec)
            edge = ir.Operation.create(
                FUNC_EDGE,
                results=[value.type],
                operands=[value],
                attributes={}
                if sharding is None
                else {SHARDING: codec.list_attribute((sharding,))},
                loc=location,
                ip=insertion_point_after(value),
            )
            value.replace_all_uses_except(edge.result, edge)
            edges.append((number, edge))
    return edges[::-1]
