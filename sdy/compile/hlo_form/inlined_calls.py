"""Calls give way to the bodies of the functions, as XLA inlines them before it partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext

from sdy.ir.attributes import SHARDING
from sdy.ir.call_graph import MAX_COPIES, CallGraph, callee_name, too_many_copies
from sdy.ir.signature_attributes import signature_entries

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["inline_calls"]

_FRONTEND_ATTRIBUTES = "mhlo.frontend_attributes"


def inline_calls(module: IndexedModule) -> None:
    """Replace the calls of a module, those in a function before those of the function.

    Not inlined are calls that XLA leaves alone too (`inlineable = "false"`), and those at which
    shardings stand, which would be lost. Functions without calls stay where they are.

    Raises:
      Error: where a function calls itself, or where bodies would have too many copies.

    """
    graph = CallGraph(module)
    graph.refuse_recursion()
    copies: dict[str, int] = {}
    for name in graph.post_order():
        copies[name] = 0
        for call in graph.calls_in(name):
            callee = callee_name(call)
            function = graph.functions[callee]
            if not _is_inlined(call, function):
                continue
            copies[name] += 1 + copies.get(callee, 0)
            if copies[name] > MAX_COPIES:
                raise too_many_copies(call)
            _inline(call, function)
    module.ops_changed()


def _is_inlined(call: ir.Operation, function: ir.Operation) -> bool:
    if len(function.regions[0].blocks) != 1 or SHARDING in call.attributes:
        return False
    frontend = call.attributes.get(_FRONTEND_ATTRIBUTES)
    if frontend is not None and "inlineable" in ir.DictAttr(frontend):
        return False
    entries = (
        entry
        for field in ("arg_attrs", "res_attrs")
        for entry in signature_entries(function, field)
    )
    return not any(SHARDING in entry for entry in entries)


def _inline(call: ir.Operation, function: ir.Operation) -> None:
    with ir.InsertionPoint(call):
        results = _jax_mlir_ext.inlined_func_call(function, list(call.operands), call.location)
    for old, new in zip(call.results, results, strict=True):
        old.replace_all_uses_with(new)
    call.erase()
