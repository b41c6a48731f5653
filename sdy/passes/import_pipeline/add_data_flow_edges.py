"""Marks data-flow edges in the program, so that their sharding has a place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.ir.data_flow import DATA_FLOW_EDGE, DATA_FLOW_OPS
from sdy.ir.data_flow_edges import add_edges, block_argument_edge_owners
from sdy.ir.sharding_access import REGION_OPS
from sdy.passes.base import Pass

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["AddDataFlowEdges"]


@dataclass(frozen=True, slots=True)
class AddDataFlowEdges(Pass):
    """Inserts an `sdy.data_flow_edge` behind every value that owns a data-flow edge.

    Those are the results of `while`, `case` and `optimization_barrier` ops and the results
    and body arguments of manual and named computations. The edge takes the sharding of its
    owner and replaces it in all uses.
    """

    name: ClassVar[str] = "sdy-add-data-flow-edges"

    def run(self, module: IndexedModule) -> None:
        """Insert the edges in place."""
        codec = module.codec
        has_changed = False
        for name in sorted(DATA_FLOW_OPS):
            for op in module.ops(name):
                if name in REGION_OPS:
                    has_changed |= bool(add_edges(block_argument_edge_owners(op), codec))
                has_changed |= bool(add_edges(op.results, codec))
        if has_changed:
            module.ops_changed(DATA_FLOW_EDGE)
