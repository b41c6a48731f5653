"""Gives every call a function of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.ir.call_graph import CallGraph, callee_name, clone_function, set_callee
from sdy.ir.op_names import CALL
from sdy.ir.symbols import SymbolNames
from sdy.ir.values import operations
from sdy.passes.base import Pass

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["FlattenCallGraph"]


@dataclass(frozen=True, slots=True)
class FlattenCallGraph(Pass):
    """Clones functions until no two calls call the same one.

    So each call can be sharded in its own way. The first call of a function keeps it; a clone
    has clones of all that it calls, and remembers the original's name in
    `sdy.original_func_name`, by which `sdy-unflatten-call-graph` undoes this. A module that would
    come to have more than 100,000 functions is refused.
    """

    name: ClassVar[str] = "sdy-flatten-call-graph"

    def run(self, module: IndexedModule) -> None:
        """Clone the functions; an error where a function calls itself."""
        if len(module.read_ops(CALL)) < 2:
            return
        graph = CallGraph(module)
        graph.refuse_recursion()
        shared = _calls_of_shared_functions(graph)
        if not shared:
            return
        names = SymbolNames(module)
        body = module.module.body
        old_count = len(body.operations)
        end = ir.InsertionPoint(body)
        for call in shared:
            callee = graph.functions[callee_name(call)]
            set_callee(call, clone_function(callee, graph.functions, names, end))
        clones = [op.operation for op in body.operations][old_count:]
        appended = [(op.name, op) for clone in clones for op in (clone, *operations(clone))]
        module.replace_at({}, appended)


def _calls_of_shared_functions(graph: CallGraph) -> list[ir.Operation]:
    """Return the calls of functions that an earlier call keeps; callees come before callers."""
    kept: set[str] = set()
    shared = []
    for function in graph.post_order():
        for call in graph.calls_in(function):
            name = callee_name(call)
            if name in kept:
                shared.append(call)
            kept.add(name)
    return shared
