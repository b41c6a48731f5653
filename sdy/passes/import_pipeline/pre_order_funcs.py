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
        places = module.roots()
        names = [symbol_name(op) if op.name == FUNCTION else None for op in roots]
        last = roots[-1]
        for function in ordered:
            if function != last:
                function.move_after(last)
            last = function
        if places is None:
            module.ops_changed()
            return
        moved = dict.fromkeys(order, range(0))
        pairs = list(zip(names, places, strict=True))
        moved |= {name: place for name, place in pairs if name in moved}
        kept = [place for name, place in pairs if name not in moved]
        module.rearrange([*kept, *moved.values()])
