"""Moves the shardings of data-flow edges to the ops that they belong to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.dialect.manual_axes import add_free_axes
from sdy.ir.attributes import SHARDING
from sdy.ir.data_flow import DATA_FLOW_EDGE, DATA_FLOW_OPS, MANUAL_COMPUTATION, edge_on
from sdy.ir.data_flow_edges import block_argument_edge_owners, edge_shardings
from sdy.ir.op_names import FUNCTION
from sdy.ir.sharding_access import REGION_OPS, manual_axes
from sdy.passes.base import Pass, option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["SinkDataFlowEdges"]


@dataclass(frozen=True, slots=True)
class SinkDataFlowEdges(Pass):
    """Moves the sharding of each `sdy.data_flow_edge` to its input and drops the edge.

    Where an edge of an op has a sharding, all results (or all arguments of the body) of that op
    get one: open, where their edge has none.
    """

    name: ClassVar[str] = "sdy-sink-data-flow-edges"
    anchor: ClassVar[str] = FUNCTION
    sink_debug_sharding_origins: bool = option(
        False, "Whether to keep on the op which user sharding each axis comes from."
    )
    sink_debug_propagation_edge_sharding: bool = option(
        False, "Whether to keep on the op through which op each axis came."
    )

    def run(self, module: IndexedModule) -> None:
        """Move the shardings and drop the edges in place."""
        edges = module.ops(DATA_FLOW_EDGE)
        debug_info = self._debug_info()
        if not edges and not debug_info:
            return
        for name in sorted(DATA_FLOW_OPS):
            for op in module.ops(name):
                arguments = block_argument_edge_owners(op) if name in REGION_OPS else ()
                _sink_to_arguments(op, edge_shardings(arguments, module.codec), module.codec)
                _sink_to_results(op, edge_shardings(op.results, module.codec), module.codec)
                for info in debug_info:
                    _sink_debug_info(op, arguments, "block_arg", info)
                    _sink_debug_info(op, op.results, "result", info)
        for edge in edges:
            edge.result.replace_all_uses_with(edge.operands[0])
        module.replace_ops(dict.fromkeys(edges, ()))
        for edge in edges:
            edge.erase()

    def _debug_info(self) -> tuple[str, ...]:
        enabled = {
            "sharding_origins": self.sink_debug_sharding_origins,
            "propagation_edges": self.sink_debug_propagation_edge_sharding,
        }
        return tuple(info for info, is_enabled in enabled.items() if is_enabled)


def _sink_to_arguments(
    op: ir.Operation, shardings: tuple[TensorSharding, ...], codec: AttributeCodec
) -> None:
    if not shardings:
        return
    if op.name == MANUAL_COMPUTATION:
        outer = codec.shardings(op.attributes["in_shardings"])
        manual = manual_axes(op)
        pairs = zip(outer, shardings, strict=True)
        shardings = tuple(add_free_axes(old, new, manual) for old, new in pairs)
    op.attributes["in_shardings"] = codec.list_attribute(shardings)


def _sink_to_results(
    op: ir.Operation, shardings: tuple[TensorSharding, ...], codec: AttributeCodec
) -> None:
    if shardings:
        field = "out_shardings" if op.name in REGION_OPS else SHARDING
        op.attributes[field] = codec.list_attribute(shardings)


def _sink_debug_info(op: ir.Operation, owners: Sequence[ir.Value], kind: str, info: str) -> None:
    edges = [edge for edge in map(edge_on, owners) if edge is not None]
    field = f"sdy.{info}"
    entries = [edge.attributes[field] for edge in edges if field in edge.attributes]
    op.attributes[f"sdy.{kind}_{info}"] = ir.ArrayAttr.get(entries)
