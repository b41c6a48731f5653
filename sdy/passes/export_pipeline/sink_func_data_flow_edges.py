"""Moves the shardings of edges between functions to the values that pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.dialect.sharding import TensorSharding
from sdy.ir.op_names import FUNC_EDGE, FUNCTION
from sdy.ir.sharding_access import set_sharding_of
from sdy.ir.value_sharding import sharding_of
from sdy.passes.base import Pass

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["SinkFuncDataFlowEdges"]


@dataclass(frozen=True, slots=True)
class SinkFuncDataFlowEdges(Pass):
    """Moves the sharding of each `sdy.func_data_flow_edge` to its input and drops the edge.

    An input whose edge has no sharding becomes fully open, if it had a sharding.
    """

    name: ClassVar[str] = "sdy-sink-func-data-flow-edges"
    anchor: ClassVar[str] = FUNCTION

    def run(self, module: IndexedModule) -> None:
        """Move the shardings and drop the edges in place."""
        edges = module.ops(FUNC_EDGE)
        for edge in edges:
            _sink(edge, module.codec)
            edge.result.replace_all_uses_with(edge.operands[0])
        module.replace_ops(dict.fromkeys(edges, ()))
        for edge in edges:
            edge.erase()


def _sink(edge: ir.Operation, codec: AttributeCodec) -> None:
    value = edge.operands[0]
    sharding = sharding_of(edge.result, codec)
    if sharding is None:
        old = sharding_of(value, codec)
        if old is None:
            return
        sharding = TensorSharding.fully_open(old.mesh, old.rank)
    set_sharding_of(value, sharding, codec)
