"""Named computations in the place of calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.ir.attributes import SHARDING
from sdy.ir.call_graph import MAX_COPIES, original_function_name, too_many_copies
from sdy.ir.data_flow import DATA_FLOW_EDGE, NAMED_COMPUTATION
from sdy.ir.data_flow_edges import EdgeLists
from sdy.ir.diagnostics import op_error, warn_once
from sdy.ir.function_shardings import argument_shardings
from sdy.ir.named_computations import EXECUTION_THREAD, discardable_attributes, move_body
from sdy.ir.op_names import SDY_RETURN
from sdy.ir.replacement import create_for
from sdy.ir.symbols import symbol_name
from sdy.ir.values import operations
from sdy.passes.import_pipeline.imported_structure import ImportedStructure

if TYPE_CHECKING:
    from sdy.ir.call_graph import CallGraph
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["CallImporter"]

_MULTIPLE_CALLS = "multiple calls"


class CallImporter:
    """Replaces calls, those in a function before those of the function.

    Attributes:
      moved: the named computation that has taken the body, for each function called so far.

    """

    def __init__(self, module: IndexedModule, graph: CallGraph, *, has_computations: bool) -> None:
        """Replace nothing yet.

        Args:
          module: the module.
          graph: the calls in it.
          has_computations: whether there are named computations in it already.

        """
        self.moved: dict[str, ir.Operation] = {}
        self._created: list[tuple[ir.Operation, int | None]] = []
        self._graph = graph
        self._module = module
        self._codec = module.codec
        self._in_shardings: dict[tuple[ir.Attribute, ir.Attribute], ir.Attribute | None] = {}
        has_edges = has_computations or bool(module.read_ops(DATA_FLOW_EDGE))
        self._edges = EdgeLists(module.codec, has_edges=has_edges)
        self._structure = None if has_computations else ImportedStructure(module, graph)

    def import_calls(self, function: str) -> None:
        """Replace the calls in a function."""
        graph = self._graph
        places = graph.places_of_calls_in(function)
        callees = graph.callees_in(function)
        for call, name, place in zip(graph.calls_in(function), callees, places, strict=True):
            self._import_call(call, name, place)

    def add_edges(self) -> None:
        """Add data-flow edges to all new named computations, those in clones too."""
        for op, place in self._created:
            arguments, results = self._edges.add(op)
            if self._structure is not None and place is not None:
                self._structure.edges_added(place, arguments, results)

    def tell_structure(self) -> None:
        """Tell the module what its ops and values are now."""
        if self._structure is None:
            self._module.ops_changed()
        else:
            self._module.apply(self._structure.finished())

    def _import_call(self, call: ir.Operation, name: str, place: int) -> None:
        """Replace a call of the function of that name."""
        function = self._graph.functions[name]
        named = self._named_computation(call, function)
        self._created.append((named, place))
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
            self._created += [(op, None) for op in inner]
            self._structure = None
        else:
            _require_one_block(function, call)
            self.moved[name] = named
            terminator = move_body(function, named, SDY_RETURN)
            if self._structure is not None:
                self._structure.call_imported(place, name, named, terminator)
        for old, new in zip(call.results, named.results, strict=True):
            old.replace_all_uses_with(new)
        call.erase()

    def _named_computation(self, call: ir.Operation, function: ir.Operation) -> ir.Operation:
        attributes = discardable_attributes(call)
        out_shardings = attributes.pop(SHARDING, None)
        if out_shardings is not None:
            attributes["out_shardings"] = out_shardings
        in_shardings = self._argument_shardings(function)
        if in_shardings is not None:
            attributes["in_shardings"] = in_shardings
        of_function = function.attributes
        if EXECUTION_THREAD in of_function:
            attributes[EXECUTION_THREAD] = of_function[EXECUTION_THREAD]
        attributes["name"] = ir.StringAttr.get(original_function_name(function))
        return create_for(call, NAMED_COMPUTATION, attributes, regions=1)

    def _argument_shardings(self, function: ir.Operation) -> ir.Attribute | None:
        attributes = function.attributes.get("arg_attrs")
        if attributes is None:
            return None
        key = attributes, function.attributes["function_type"]
        if key not in self._in_shardings:
            shardings = argument_shardings(function, self._codec)
            known = None if shardings is None else self._codec.list_attribute(shardings)
            self._in_shardings[key] = known
        return self._in_shardings[key]


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
