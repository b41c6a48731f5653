"""MLIR's `symbol-dce`, run only where it has something to erase."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.ir.call_graph import CallGraph, callee_name
from sdy.ir.op_names import FUNCTION, MODULE
from sdy.ir.symbols import SYMBOL, is_private, symbol_name
from sdy.passes.base import Pass
from sdy.passes.upstream import run_upstream

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.ir.indexed_module import IndexedModule

__all__ = ["SymbolDce"]


@dataclass(frozen=True, slots=True)
class SymbolDce(Pass):
    """Erases private symbols, such as functions, that nothing public uses."""

    name: ClassVar[str] = "symbol-dce"

    def run(self, module: IndexedModule) -> None:
        """Erase the symbols in place."""
        body = module.module.body.operations
        ops = [op.operation for op in body]
        has_modules = any(op.name == MODULE for op in ops)
        if has_modules or not _are_all_called([op for op in ops if is_private(op)], module):
            names = [symbol_name(op) if SYMBOL in op.attributes else None for op in ops]
            run_upstream(module.module, self.name)
            if has_modules:
                module.ops_changed()
                module.meshes_changed()
            elif len(body) != len(ops):
                left = {symbol_name(op.operation) for op in body if SYMBOL in op.attributes}
                module.keep_roots([name is None or name in left for name in names])
                module.meshes_changed()


def _are_all_called(hidden: list[ir.Operation], module: IndexedModule) -> bool:
    """Return whether all are functions that calls in public functions reach."""
    if not hidden:
        return True
    if any(op.name != FUNCTION for op in hidden):
        return False
    graph = CallGraph(module)
    names = {symbol_name(op) for op in hidden}
    pending = [name for name in graph.functions if name not in names]
    reached: set[str] = set(pending)
    while pending:
        callees = map(callee_name, graph.calls_in(pending.pop()))
        new = [name for name in dict.fromkeys(callees) if name not in reached]
        reached.update(new)
        pending.extend(new)
    return names <= reached
