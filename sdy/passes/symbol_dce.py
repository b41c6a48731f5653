"""MLIR's `symbol-dce`, run only where more than calls may use what it erases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.ir.call_graph import CallGraph
from sdy.ir.op_names import FUNCTION, MODULE
from sdy.ir.symbols import SYMBOL, is_private, symbol_name
from sdy.passes.base import Pass
from sdy.passes.upstream import run_upstream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jaxlib.mlir import ir

    from sdy.ir.indexed_module import IndexedModule

__all__ = ["SymbolDce"]


@dataclass(frozen=True, slots=True)
class SymbolDce(Pass):
    """Erases private symbols, such as functions, that nothing public uses."""

    name: ClassVar[str] = "symbol-dce"

    def run(self, module: IndexedModule) -> None:
        """Erase the symbols in place."""
        ops = module.root_ops()
        hidden = [op for op in ops if is_private(op)]
        has_modules = any(op.name == MODULE for op in ops)
        if not has_modules and all(op.name == FUNCTION for op in hidden):
            names = set(map(symbol_name, hidden))
            dead = names - _called_names(names, module) if names else names
            if not dead or _erase(dead, ops, module):
                return
        _run_upstream(module, ops)


def _called_names(hidden: set[str], module: IndexedModule) -> set[str]:
    """Return the names of the functions that are not hidden or that calls in those reach."""
    if not module.is_indexed:
        # This tells the names of all ops, too, and the passes that come next ask for it.
        module.last_structure  # noqa: B018
    graph = CallGraph(module, is_late=True)
    pending = [name for name in graph.functions if name not in hidden]
    reached: set[str] = set(pending)
    while pending:
        called = graph.callees_in(pending.pop())
        new = [name for name in dict.fromkeys(called) if name not in reached]
        reached.update(new)
        pending.extend(new)
    return reached


def _erase(dead: set[str], roots: Sequence[ir.Operation], module: IndexedModule) -> bool:
    """Erase functions that are not called; return False where more than calls may use them."""
    if module.is_numbered and module.open_edit is None:
        module.read_references()
    references = module.references
    if references is None or not dead.isdisjoint(references):
        return False
    are_dead = [op.name == FUNCTION and symbol_name(op) in dead for op in roots]
    module.keep_roots([place for place, is_dead in enumerate(are_dead) if not is_dead])
    for op, is_dead in zip(roots, are_dead, strict=True):
        if is_dead:
            op.erase()
    return True


def _run_upstream(module: IndexedModule, roots: Sequence[ir.Operation]) -> None:
    places = module.roots()
    names = [symbol_name(op) if SYMBOL in op.attributes else None for op in roots]
    run_upstream(module.module, SymbolDce.name)
    body = module.module.body.operations
    if places is None:
        module.ops_changed()
        module.meshes_changed()
    elif len(body) != len(roots):
        left = {symbol_name(op.operation) for op in body}
        pairs = zip(places, names, strict=True)
        module.rearrange([place for place, name in pairs if name in left])
        module.meshes_changed()
