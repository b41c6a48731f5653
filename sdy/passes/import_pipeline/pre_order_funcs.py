"""Puts functions before those that they call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.ir.call_graph import CallGraph
from sdy.ir.op_names import FUNCTION
from sdy.ir.symbols import symbol_name
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
        order = graph.pre_order()
        ordered = [graph.functions[name] for name in order]
        roots = [op.operation for op in module.module.body.operations]
        if not ordered or roots[-len(ordered) :] == ordered:
            return
        place_of = {symbol_name(op): place for place, op in enumerate(roots) if op.name == FUNCTION}
        kept = set(range(len(roots))).difference([place_of[name] for name in order])
        module.keep_roots([*sorted(kept), *(place_of[name] for name in order)])
        last = roots[-1]
        for function in ordered:
            if function != last:
                function.move_after(last)
            last = function
