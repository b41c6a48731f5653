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
        names = [name for name in sorted(DATA_FLOW_OPS) if module.read_ops(name)]
        if not names:
            return
        structure = module.structure
        edit = module.edit()
        for name in names:
            for number, op in zip(module.numbers(name), module.read_ops(name), strict=True):
                if name in REGION_OPS:
                    edges = add_edges(block_argument_edge_owners(op), module.codec)
                    edit.insert_edges(
                        DATA_FLOW_EDGE, edges, edit.arguments(number), number, number + 1
                    )
                edges = add_edges(op.results, module.codec)
                before = structure.ends.get(number, number + 1)
                edit.insert_edges(
                    DATA_FLOW_EDGE, edges, edit.results(number), edit.parent(number), before
                )
        module.apply(edit)
