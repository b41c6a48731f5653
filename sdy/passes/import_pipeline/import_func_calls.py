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
from sdy.passes.import_pipeline.imported_order import Imported, Places

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sdy.ir.attributes import AttributeCodec
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
        importer = _import_calls(module) if module.ops(CALL) else None
        adds_edges = self.add_data_flow_edges_on_named_computations
        if adds_edges and any([any(_add_edges(op, module.codec)) for op in computations]):
            module.ops_changed(DATA_FLOW_EDGE)
        if importer is not None:
            if adds_edges:
                importer.add_edges()
            importer.rearrange()


def _import_calls(module: IndexedModule) -> _Importer:
    """Replace all calls."""
    graph = CallGraph(module)
    graph.refuse_recursion()
    importer = _Importer(module, graph)
    for function in graph.post_order():
        importer.import_calls(function, graph.calls_in(function))
    for name in importer.moved:
        graph.functions[name].erase()
    return importer


class _Importer:
    """Replaces calls, those in a function before those of the function.

    Attributes:
      moved: the named computation that has taken the body, for each function called so far.

    """

    def __init__(self, module: IndexedModule, graph: CallGraph) -> None:
        self.moved: dict[str, ir.Operation] = {}
        self._created: list[Imported] = []
        self._by_function: dict[str, list[Imported]] = {}
        self._functions = graph.functions
        self._module = module
        self._codec = module.codec
        self._places = Places(module)

    def import_calls(self, function: str, calls: Iterable[ir.Operation]) -> None:
        """Replace the calls in a function."""
        self._by_function[function] = [self._import_call(call) for call in calls]

    def add_edges(self) -> None:
        """Add data-flow edges to all new named computations, those in clones too."""
        for each in self._created:
            each.argument_edges, each.result_edges = _add_edges(each.op, self._codec)

    def rearrange(self) -> None:
        """Tell the module where its ops stand now."""
        if self._places.are_known:
            self._module.rearrange(self._places.pieces(self._by_function))
        else:
            self._module.ops_changed()

    def _import_call(self, call: ir.Operation) -> Imported:
        name = callee_name(call)
        function = self._functions[name]
        named = self._named_computation(call, function)
        imported = Imported(named, name)
        self._created.append(imported)
        if name in self.moved:
            message = (
                f"function @{name} has multiple call ops, "
                "we need to clone the function body for each call"
            )
            warn_once(_MULTIPLE_CALLS, call, message)
            if len(self._created) > MAX_COPIES:
                raise too_many_copies(call)
            _clone_body(self.moved[name], named)
            inner = [op for op in operations(named) if op.name == NAMED_COMPUTATION]
            self._created += [Imported(op, name) for op in inner]
        else:
            _require_one_block(function, call)
            self.moved[name] = named
            imported.terminator = move_body(function, named, SDY_RETURN)
        for old, new in zip(call.results, named.results, strict=True):
            old.replace_all_uses_with(new)
        call.erase()
        return imported

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


def _add_edges(
    op: ir.Operation, codec: AttributeCodec
) -> tuple[list[ir.Operation], list[ir.Operation]]:
    """Add data-flow edges to the arguments and to the results of a named computation."""
    # Computations that are not imported may have their edges already.
    arguments = [value for value in block_argument_edge_owners(op) if edge_on(value) is None]
    results = [value for value in op.results if edge_on(value) is None]
    return add_edges(arguments, codec), add_edges(results, codec)
