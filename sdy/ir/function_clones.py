"""Clones of functions, and of all that they call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.ir.call_graph import (
    MAX_COPIES,
    ORIGINAL_NAME,
    callee_name,
    original_function_name,
    set_callee,
    too_many_copies,
)
from sdy.ir.op_names import CALL
from sdy.ir.symbols import SYMBOL, symbol_name
from sdy.ir.values import operations

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sdy.ir.symbols import SymbolNames

__all__ = ["Clone", "FunctionCloner"]


class Clone:
    """A clone of a function.

    Attributes:
      source: the name of the function, no clone of this cloner, with the same ops.
      ops: the clone and the ops in it, in the order of the text.

    """

    def __init__(self, source: str, ops: list[ir.Operation]) -> None:
        self.source = source
        self.ops = ops


class FunctionCloner:
    """Clones functions to the end of a module.

    Attributes:
      clones: all so far, in the order of the text.

    """

    def __init__(
        self, functions: dict[str, ir.Operation], names: SymbolNames, module: ir.Module
    ) -> None:
        """Clone nothing yet.

        Args:
          functions: every function by name; gets the clones.
          names: the names of symbols that are taken.
          module: the module; it gets no other ops of its own meanwhile.

        """
        self.clones: list[Clone] = []
        self._functions = functions
        self._names = names
        self._body = module.body
        self._sources: dict[str, str] = {}
        self._calls: dict[str, list[int]] = {}

    def clone(self, function: ir.Operation) -> str:
        """Clone a function and, again for each call, all that it calls; return the clone's name.

        The clones of callees stand before those of their callers. Clones remember the name of
        the original.

        Raises:
          Error: at the function, where there would be more than MAX_COPIES functions.

        """
        # With lists in place of recursion, as calls may be deeper than Python's stack.
        path = [self._clone_alone(function, ir.InsertionPoint(self._body))]
        waiting: list[ir.Operation] = []
        while True:
            clone, calls = path[-1]
            call = next(calls, None)
            if call is not None:
                callee = self._functions[callee_name(call)]
                if len(self._functions) + len(path) >= MAX_COPIES:
                    raise too_many_copies(callee)
                waiting.append(call)
                path.append(self._clone_alone(callee, ir.InsertionPoint(clone.ops[0])))
                continue
            path.pop()
            name = self._finish(clone)
            if not waiting:
                return name
            set_callee(waiting.pop(), name)

    def _clone_alone(
        self, function: ir.Operation, place: ir.InsertionPoint
    ) -> tuple[Clone, Iterator[ir.Operation]]:
        """Clone one function; return the clone, under the same name, and the calls in it."""
        op = function.clone(place).operation
        op.attributes[ORIGINAL_NAME] = ir.StringAttr.get(original_function_name(function))
        name = symbol_name(function)
        source = self._sources.get(name, name)
        ops = [op, *operations(op)]
        return Clone(source, ops), iter([ops[place] for place in self._places(source, ops)])

    def _places(self, source: str, ops: Sequence[ir.Operation]) -> list[int]:
        """Return where the calls are among the ops of a function, which is the same in clones."""
        known = self._calls.get(source)
        if known is None:
            known = [place for place, op in enumerate(ops) if op.name == CALL]
            self._calls[source] = known
        return known

    def _finish(self, clone: Clone) -> str:
        """Give a clone a name of its own."""
        op = clone.ops[0]
        name = self._names.claim(symbol_name(op))
        op.attributes[SYMBOL] = ir.StringAttr.get(name)
        self._functions[name] = op
        self._sources[name] = clone.source
        self.clones.append(clone)
        return name
