"""Turns calls into named computations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.ir.call_graph import CallGraph
from sdy.ir.data_flow import DATA_FLOW_EDGE, NAMED_COMPUTATION
from sdy.ir.data_flow_edges import EdgeLists
from sdy.ir.op_names import CALL
from sdy.passes.base import Pass, option
from sdy.passes.import_pipeline.call_importer import CallImporter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jaxlib.mlir import ir

    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["ImportFuncCalls"]


@dataclass(frozen=True, slots=True)
class ImportFuncCalls(Pass):
    """Replaces every call by an `sdy.named_computation` with the body of the function.

    The named computation has the name of the function (of the original, if that is a clone), the
    shardings of its arguments and those of the call's results. The first call of a function
    takes its body; further ones clone it, with a warning: they are better told apart by
    `sdy-flatten-call-graph` before. Functions that were called are gone after this pass. A module
    that would come to have more than some 100,000 named computations is refused.
    """

    name: ClassVar[str] = "sdy-import-func-calls"
    add_data_flow_edges_on_named_computations: bool = option(
        True, "Whether to add data-flow edges to the named computations."
    )

    def run(self, module: IndexedModule) -> None:
        """Import the calls; an error where a function calls itself or has no single block."""
        computations = module.ops(NAMED_COMPUTATION)
        importer = None
        if module.read_ops(CALL):
            importer = _import_calls(module, has_computations=bool(computations))
        adds_edges = self.add_data_flow_edges_on_named_computations
        if adds_edges and _add_edges(computations, module.codec):
            module.ops_changed(DATA_FLOW_EDGE)
        if importer is not None:
            if adds_edges:
                importer.add_edges()
            importer.tell_structure()


def _import_calls(module: IndexedModule, *, has_computations: bool) -> CallImporter:
    """Replace all calls."""
    graph = CallGraph(module)
    graph.refuse_recursion()
    importer = CallImporter(module, graph, has_computations=has_computations)
    for function in graph.post_order():
        importer.import_calls(function)
    for name in importer.moved:
        graph.functions[name].erase()
    return importer


def _add_edges(computations: Iterable[ir.Operation], codec: AttributeCodec) -> bool:
    """Add the edges that named computations have not got; return whether there were any."""
    edges = EdgeLists(codec, has_edges=True)
    return any([any(edges.add(op)) for op in computations])
