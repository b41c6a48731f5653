"""The decompositions of composites after propagation, one function for each way to be sharded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.ir.data_flow import edge_on
from sdy.ir.data_flow_edges import block_argument_edge_owners
from sdy.ir.function_shardings import set_argument_shardings
from sdy.ir.named_computations import move_body
from sdy.ir.op_names import FUNCTION, RETURN
from sdy.ir.symbols import SYMBOL, VISIBILITY, SymbolNames, symbol_name
from sdy.ir.use_order import move_uses
from sdy.ir.value_sharding import sharding_of
from sdy.ir.values import operations

if TYPE_CHECKING:
    from collections.abc import Hashable
    from collections.abc import Set as AbstractSet

    from sdy.ir.indexed_module import IndexedModule

__all__ = ["Decompositions"]


class Decompositions:
    """Makes functions of the bodies of inlined composites.

    Bodies of one decomposition differ in nothing but their attributes. Those that do not differ
    share a function. The first one takes the place of the decomposition if that is replaceable;
    each other one is a private function behind it, under a name made from that of the
    decomposition.
    """

    def __init__(self, module: IndexedModule, replaceable: AbstractSet[str]) -> None:
        self._codec = module.codec
        self._names = SymbolNames(module)
        self._functions = {symbol_name(op): op for op in module.read_ops(FUNCTION)}
        self._last_variants = dict(self._functions)
        self._replaceable = set(replaceable)
        self._known: dict[str, dict[Hashable, str]] = {}

    def take_body(self, computation: ir.Operation, name: str) -> str:
        """Move the body of a named computation, a copy of decomposition `name`, to a function.

        Returns the function's name. The computation is left without a body.
        """
        function = self._function_of(computation, name)
        known = self._known_variants(name)
        key = _key(function)
        if key in known:
            function.erase()
            return known[key]
        self._last_variants[name] = function
        if name in self._replaceable:
            self._replaceable.remove(name)
            self._functions[name].erase()
            self._functions[name] = function
            known[key] = name
        else:
            known[key] = self._names.claim(name)
            function.attributes[SYMBOL] = ir.StringAttr.get(known[key], function.context)
            function.attributes[VISIBILITY] = ir.StringAttr.get("private", function.context)
        return known[key]

    def drop_unused(self) -> None:
        """Erase the replaceable functions that nothing has replaced: nothing uses them."""
        for name in self._replaceable:
            self._functions[name].erase()

    def _known_variants(self, name: str) -> dict[Hashable, str]:
        """Return by key the functions that are decomposition `name`, sharded some way."""
        if name not in self._known:
            is_kept = name not in self._replaceable
            self._known[name] = {_key(self._functions[name]): name} if is_kept else {}
        return self._known[name]

    def _function_of(self, computation: ir.Operation, name: str) -> ir.Operation:
        """Return a new function with the body, and otherwise like the decomposition."""
        decomposition = self._functions[name]
        arguments = block_argument_edge_owners(computation)
        shardings = [sharding_of(argument, self._codec) for argument in arguments]
        function = ir.Operation.create(
            FUNCTION,
            attributes=dict(decomposition.attributes.items()),
            regions=1,
            loc=decomposition.location,
            ip=ir.InsertionPoint.after(self._last_variants[name]),
        )
        move_body(computation, function, RETURN)
        for argument in block_argument_edge_owners(function):
            edge = edge_on(argument)
            if edge is not None:
                move_uses(edge.result, argument)
                edge.erase()
        set_argument_shardings(function, shardings, self._codec)
        return function


def _key(function: ir.Operation) -> Hashable:
    """Return what tells a function from others that differ in attributes alone."""
    own = [item for item in function.attributes.items() if item[0] not in (SYMBOL, VISIBILITY)]
    return (*own, *(tuple(op.attributes.items()) for op in operations(function)))
