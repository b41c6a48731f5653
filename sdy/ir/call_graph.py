"""The functions of a module in the order in which they call each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.ir.diagnostics import op_error
from sdy.ir.op_names import CALL, FUNCTION
from sdy.ir.symbols import SYMBOL, symbol_name, text_of
from sdy.ir.values import operations

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sdy.ir.diagnostics import DiagnosticError
    from sdy.ir.indexed_module import IndexedModule
    from sdy.ir.symbols import SymbolNames

__all__ = [
    "MAX_COPIES",
    "ORIGINAL_NAME",
    "CallGraph",
    "callee_name",
    "clone_function",
    "original_function_name",
    "set_callee",
    "too_many_copies",
]

ORIGINAL_NAME = "sdy.original_func_name"

MAX_COPIES = 100_000
"""How many copies of bodies a module may come to have, for one of each call.

Functions that call the next one twice have twice as many at every level.
"""


def callee_name(call: ir.Operation) -> str:
    """Return the name of the function that a `func.call` calls."""
    return text_of(ir.FlatSymbolRefAttr(call.attributes["callee"]))


def set_callee(call: ir.Operation, name: str) -> None:
    """Let a `func.call` call another function."""
    call.attributes["callee"] = ir.FlatSymbolRefAttr.get(name)


def original_function_name(function: ir.Operation) -> str:
    """Return the name of the function of which `function` is a copy; its own if it is none."""
    attributes = function.attributes
    if ORIGINAL_NAME in attributes and isinstance(attributes[ORIGINAL_NAME], ir.StringAttr):
        return text_of(ir.StringAttr(attributes[ORIGINAL_NAME]))
    return symbol_name(function)


class CallGraph:
    """The functions of a module, and which of them each calls.

    A function without a body, which is defined elsewhere, calls none and is in no order.

    Attributes:
      functions: the functions by name.

    """

    def __init__(self, module: IndexedModule) -> None:
        self.functions = {symbol_name(op): op for op in module.read_ops(FUNCTION)}
        self._calls: dict[str, list[ir.Operation]] = {
            name: [] for name, op in self.functions.items() if len(op.regions[0].blocks)
        }
        for call in module.read_ops(CALL):
            function = _enclosing_function(call)
            if function is not None:
                self._calls[symbol_name(function)].append(call)

    def calls_in(self, function: str) -> list[ir.Operation]:
        """Return the calls in the body of a function, if any, in the order of the text."""
        return self._calls.get(function, [])

    def post_order(self) -> list[str]:
        """Return the functions, each after those it calls, as LLVM's `post_order` visits them.

        It starts from the functions in the order of the text and follows calls likewise.
        """
        visited: set[str] = set()
        order: list[str] = []
        for root in self._calls:
            self._visit(root, visited, order)
        return order

    def pre_order(self) -> list[str]:
        """Return the functions, each before those it calls: the reverse of `post_order`."""
        return self.post_order()[::-1]

    def refuse_recursion(self) -> None:
        """Raise an error, at the call, where a function calls itself, be it through others."""
        position = {name: number for number, name in enumerate(self.post_order())}
        for caller, calls in self._calls.items():
            for call in calls:
                # A call of a function that is not yet done, in a depth-first order, closes a cycle.
                if position.get(callee_name(call), -1) >= position[caller]:
                    raise op_error(call, f"function @{callee_name(call)} is recursive")

    def _visit(self, root: str, visited: set[str], order: list[str]) -> None:
        if root in visited:
            return
        visited.add(root)
        path: list[tuple[str, Iterator[ir.Operation]]] = [(root, iter(self._calls[root]))]
        while path:
            name, calls = path[-1]
            callee = self._next(calls, visited)
            if callee is None:
                order.append(name)
                path.pop()
            else:
                visited.add(callee)
                path.append((callee, iter(self._calls[callee])))

    def _next(self, calls: Iterable[ir.Operation], visited: set[str]) -> str | None:
        names = map(callee_name, calls)
        return next((n for n in names if n in self._calls and n not in visited), None)


def _enclosing_function(op: ir.Operation) -> ir.Operation | None:
    """Return the function that an op is in; None where it stands in the module itself."""
    parent = op.parent
    while parent is not None and parent.operation.name != FUNCTION:
        parent = parent.operation.parent
    return parent and parent.operation


def clone_function(
    function: ir.Operation,
    functions: dict[str, ir.Operation],
    names: SymbolNames,
    place: ir.InsertionPoint,
    sources: dict[str, str] | None = None,
) -> str:
    """Clone a function and, again for each call, all that it calls; return the clone's name.

    Clones remember the name of the original.

    Args:
      function: the function.
      functions: every function by name; gets the clones.
      names: the names of symbols that are taken.
      place: where the clones are to stand, those of callees before those of their callers.
      sources: gets for the name of each clone that of the function that it is a clone of.

    Raises:
      Error: at the function, where there would be more than MAX_COPIES functions.

    """
    # With lists in place of recursion, as calls may be deeper than Python's stack.
    path = [_clone_alone(function, place)]
    waiting: list[ir.Operation] = []
    while True:
        clone, calls = path[-1]
        call = next(calls, None)
        if call is not None:
            callee = functions[callee_name(call)]
            if len(functions) + len(path) >= MAX_COPIES:
                raise too_many_copies(callee)
            waiting.append(call)
            path.append(_clone_alone(callee, ir.InsertionPoint(clone)))
            continue
        path.pop()
        source = symbol_name(clone)
        name = names.claim(source)
        if sources is not None:
            sources[name] = source
        clone.attributes[SYMBOL] = ir.StringAttr.get(name)
        functions[name] = clone
        if not waiting:
            return name
        set_callee(waiting.pop(), name)


def _clone_alone(
    function: ir.Operation, place: ir.InsertionPoint
) -> tuple[ir.Operation, Iterator[ir.Operation]]:
    """Clone one function; return the clone, under the same name, and the calls in it."""
    clone = function.clone(ip=place).operation
    clone.attributes[ORIGINAL_NAME] = ir.StringAttr.get(original_function_name(function))
    return clone, iter(_calls_below(clone))


def too_many_copies(op: ir.Operation) -> DiagnosticError:
    """Return the error for a module that would have more than MAX_COPIES copies of bodies."""
    return op_error(op, f"more than {MAX_COPIES:,} copies are needed for one of each call")


def _calls_below(root: ir.Operation) -> list[ir.Operation]:
    return [op for op in operations(root) if op.name == CALL]
