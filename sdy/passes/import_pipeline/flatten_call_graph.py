"""Gives every call a function of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.ir.call_graph import CallGraph, callee_name, set_callee
from sdy.ir.function_clones import FunctionCloner
from sdy.ir.op_names import CALL, FUNCTION
from sdy.ir.symbols import SymbolNames
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
        edit = module.edit()
        calls, call_numbers = module.read_ops(CALL), edit.numbers(CALL)
        numbers = dict(zip(graph.functions, edit.numbers(FUNCTION), strict=True))
        cloner = FunctionCloner(graph.functions, SymbolNames(module), module.module)
        for place in shared:
            set_callee(calls[place], cloner.clone(graph.functions[callee_name(calls[place])]))
            edit.attributes_changed(call_numbers[place])
        for clone in cloner.clones:
            edit.clone(numbers[clone.source], clone.ops)
        module.apply(edit)


def _calls_of_shared_functions(graph: CallGraph) -> list[int]:
    """Return the calls of functions that an earlier call keeps; callees come before callers.

    Each is its place among all calls.
    """
    kept: set[str] = set()
    shared: list[int] = []
    for function in graph.post_order():
        places = graph.places_of_calls_in(function)
        for place, name in zip(places, graph.callees_in(function), strict=True):
            if name in kept:
                shared.append(place)
            kept.add(name)
    return shared
