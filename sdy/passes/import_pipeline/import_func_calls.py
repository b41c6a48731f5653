"""Turns calls into named computations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.ir.attributes import SHARDING
from sdy.ir.call_graph import (
    MAX_COPIES,
    CallGraph,
    callee_name,
    original_function_name,
    too_many_copies,
)
from sdy.ir.data_flow import DATA_FLOW_EDGE, NAMED_COMPUTATION, edge_on
from sdy.ir.data_flow_edges import add_edges, block_argument_edge_owners
from sdy.ir.diagnostics import op_error, warn_once
from sdy.ir.function_shardings import argument_shardings
from sdy.ir.named_computations import EXECUTION_THREAD, discardable_attributes, move_body
from sdy.ir.op_names import CALL, SDY_RETURN
from sdy.ir.replacement import create_for
from sdy.ir.symbols import symbol_name
from sdy.ir.values import operations
from sdy.passes.base import Pass, option

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sdy.ir.indexed_module import IndexedModule

__all__ = ["ImportFuncCalls"]

_MULTIPLE_CALLS = "multiple calls"


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
        if module.ops(CALL):
            computations = [*computations, *_import_calls(module)]
            module.ops_changed()
        if self.add_data_flow_edges_on_named_computations:
            _add_edges(computations, module)


def _import_calls(module: IndexedModule) -> list[ir.Operation]:
    """Replace all calls; return the named computations that are new, those in clones too."""
    graph = CallGraph(module)
    graph.refuse_recursion()
    importer = _Importer(module, graph)
    for function in graph.post_order():
        for call in graph.calls_in(function):
            importer.import_call(call)
    for name in importer.moved:
        graph.functions[name].erase()
    return importer.created


class _Importer:
    """Replaces calls, those in a function before those of the function.

    Attributes:
      moved: the named computation that has taken the body, for each function called so far.
      created: all new named computations.

    """

    def __init__(self, module: IndexedModule, graph: CallGraph) -> None:
        self.created: list[ir.Operation] = []
        self.moved: dict[str, ir.Operation] = {}
        self._functions = graph.functions
        self._codec = module.codec

    def import_call(self, call: ir.Operation) -> None:
        name = callee_name(call)
        function = self._functions[name]
        named = self._named_computation(call, function)
        self.created.append(named)
        if name in self.moved:
            message = (
                f"function @{name} has multiple call ops, "
                "we need to clone the function body for each call"
            )
            warn_once(_MULTIPLE_CALLS, call, message)
            if len(self.created) > MAX_COPIES:
                raise too_many_copies(call)
            _clone_body(self.moved[name], named)
            self.created += (op for op in operations(named) if op.name == NAMED_COMPUTATION)
        else:
            _require_one_block(function, call)
            self.moved[name] = named
            move_body(function, named, SDY_RETURN)
        for old, new in zip(call.results, named.results, strict=True):
            old.replace_all_uses_with(new)
        call.erase()

    def _named_computation(self, call: ir.Operation, function: ir.Operation) -> ir.Operation:
        attributes = discardable_attributes(call)
        out_shardings = attributes.pop(SHARDING, None)
        if out_shardings is not None:
            attributes["out_shardings"] = out_shardings
        in_shardings = argument_shardings(function, self._codec)
        if in_shardings is not None:
            attributes["in_shardings"] = self._codec.list_attribute(in_shardings)
        if EXECUTION_THREAD in function.attributes:
            attributes[EXECUTION_THREAD] = function.attributes[EXECUTION_THREAD]
        attributes["name"] = ir.StringAttr.get(original_function_name(function))
        return create_for(call, NAMED_COMPUTATION, attributes, regions=1)


def _require_one_block(function: ir.Operation, call: ir.Operation) -> None:
    count = len(function.regions[0].blocks)
    if count != 1:
        what = "has more than one block" if count else "has no body"
        raise op_error(call, f"function @{symbol_name(function)} {what}")


def _clone_body(source: ir.Operation, target: ir.Operation) -> None:
    # Regions cannot be cloned from Python, ops can.
    clone = source.clone(ip=ir.InsertionPoint(target))
    clone.regions[0].blocks[0].append_to(target.regions[0])
    clone.erase()


def _add_edges(computations: Iterable[ir.Operation], module: IndexedModule) -> None:
    has_changed = False
    for op in computations:
        for values in (block_argument_edge_owners(op), op.results):
            # Computations that are not imported may have their edges already.
            owners = [value for value in values if edge_on(value) is None]
            has_changed |= add_edges(owners, module.codec)
    if has_changed:
        module.ops_changed(DATA_FLOW_EDGE)
