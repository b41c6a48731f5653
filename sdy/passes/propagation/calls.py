"""Which function each call calls, and which calls each function has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.ir.call_graph import callee_name
from sdy.ir.op_names import CALL, FUNCTION, RETURN
from sdy.ir.symbols import symbol_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jaxlib.mlir import ir

    from sdy.passes.propagation.graph import Graph

__all__ = ["RETURN", "Calls"]


class Calls:
    """The calls of a graph by callee, and its functions by symbol."""

    def __init__(self, graph: Graph) -> None:
        self._functions: dict[str, ir.Operation] = {}
        self._calls: dict[str, list[ir.Operation]] = {}
        for op, name in zip(graph.ops, graph.names, strict=True):
            if name == FUNCTION:
                self._functions[symbol_name(op)] = op
            elif name == CALL:
                self._calls.setdefault(callee_name(op), []).append(op)

    def calls_to(self, function: ir.Operation) -> Sequence[ir.Operation]:
        """Return the calls of a function, in the order of the text."""
        return self._calls.get(symbol_name(function), ())

    def callee(self, call: ir.Operation) -> ir.Operation:
        """Return the function that a call calls."""
        return self._functions[callee_name(call)]
