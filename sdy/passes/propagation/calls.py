"""Which function each call calls, and which calls each function has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.passes.propagation.graph import Graph

__all__ = ["CALL", "FUNCTION", "RETURN", "CallGraph", "symbol_name"]

CALL = "func.call"
FUNCTION = "func.func"
RETURN = "func.return"


def symbol_name(function: ir.Operation) -> str:
    """Return the symbol of a function op."""
    name: str = ir.StringAttr(function.attributes["sym_name"]).value
    return name


class CallGraph:
    """The calls of a graph by callee, and its functions by symbol."""

    def __init__(self, graph: Graph) -> None:
        self._functions: dict[str, ir.Operation] = {}
        self._calls: dict[str, list[ir.Operation]] = {}
        for op, name in zip(graph.ops, graph.names, strict=True):
            if name == FUNCTION:
                self._functions[symbol_name(op)] = op
            elif name == CALL:
                self._calls.setdefault(_callee_name(op), []).append(op)

    def calls_to(self, function: ir.Operation) -> Sequence[ir.Operation]:
        """Return the calls of a function, in the order of the text."""
        return self._calls.get(symbol_name(function), ())

    def callee(self, call: ir.Operation) -> ir.Operation:
        """Return the function that a call calls."""
        return self._functions[_callee_name(call)]


def _callee_name(call: ir.Operation) -> str:
    name: str = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
    return name
