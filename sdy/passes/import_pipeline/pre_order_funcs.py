"""Puts functions before those that they call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.ir.call_graph import CallGraph
from sdy.passes.base import Pass

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["PreOrderFuncs"]


@dataclass(frozen=True, slots=True)
class PreOrderFuncs(Pass):
    """Moves the functions to the end of the module, callers before those that they call.

    Propagation goes through the text from top to bottom: so it does in one go what it would do
    if every function stood in the place of its call. Declarations stay where they are.
    """

    name: ClassVar[str] = "sdy-pre-order-funcs"

    def run(self, module: IndexedModule) -> None:
        """Move the functions in place."""
        graph = CallGraph(module)
        ordered = [graph.functions[name] for name in graph.pre_order()]
        last_ops = [op.operation for op in module.module.body.operations][-len(ordered) :]
        if not ordered or last_ops == ordered:
            return
        last = last_ops[-1]
        for function in ordered:
            if function != last:
                function.move_after(last)
            last = function
        module.ops_changed()
