"""The functions of a module in the order in which they call each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from jaxlib.mlir import ir

from sdy.ir.diagnostics import op_error
from sdy.ir.op_names import CALL, FUNCTION
from sdy.ir.structure import NOTHING
from sdy.ir.symbols import symbol_name, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sdy.ir.diagnostics import DiagnosticError
    from sdy.ir.indexed_module import IndexedModule

__all__ = [
    "MAX_COPIES",
    "ORIGINAL_NAME",
    "CallGraph",
    "callee_name",
    "original_function_name",
    "set_callee",
    "too_many_copies",
]

_Call: TypeAlias = "tuple[int | None, ir.Operation]"
"""A call, behind the place of the function that it is in among all functions."""

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
    """The functions of a module, and which of them each calls, as it is when this is made.

    A function without a body, which is defined elsewhere, calls none and is in no order.

    Attributes:
      functions: the functions by name.

    """

    def __init__(self, module: IndexedModule, *, is_late: bool = False) -> None:
        """Find the calls.

        Args:
          module: the module.
          is_late: whether MLIR may still be told late of attributes of the ops.

        """
        if not is_late:
            module.write_attributes()
        functions, have_bodies, calls = _functions_and_calls(module)
        names = list(map(symbol_name, functions))
        self.functions = dict(zip(names, functions, strict=True))
        with_body = [name for name, has in zip(names, have_bodies, strict=True) if has]
        self._calls: dict[str, list[ir.Operation]] = {name: [] for name in with_body}
        self._places: dict[str, list[int]] = {name: [] for name in with_body}
        self._callees: dict[str, list[str]] = {name: [] for name in with_body}
        for place, (function, call) in enumerate(calls):
            if function is not None:
                name = names[function]
                self._calls[name].append(call)
                self._places[name].append(place)
                self._callees[name].append(callee_name(call))

    def calls_in(self, function: str) -> list[ir.Operation]:
        """Return the calls in the body of a function, if any, in the order of the text."""
        return self._calls.get(function, [])

    def callees_in(self, function: str) -> list[str]:
        """Return the names of the functions that these calls call."""
        return self._callees.get(function, [])

    def places_of_calls_in(self, function: str) -> list[int]:
        """Return the places of these calls among all calls of the module."""
        return self._places.get(function, [])

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
            for call, callee in zip(calls, self._callees[caller], strict=True):
                # A call of a function that is not yet done, in a depth-first order, closes a cycle.
                if position.get(callee, -1) >= position[caller]:
                    raise op_error(call, f"function @{callee} is recursive")

    def _visit(self, root: str, visited: set[str], order: list[str]) -> None:
        if root in visited:
            return
        visited.add(root)
        path: list[tuple[str, Iterator[str]]] = [(root, iter(self._callees[root]))]
        while path:
            name, callees = path[-1]
            callee = self._next(callees, visited)
            if callee is None:
                order.append(name)
                path.pop()
            else:
                visited.add(callee)
                path.append((callee, iter(self._callees[callee])))

    def _next(self, callees: Iterable[str], visited: set[str]) -> str | None:
        for name in callees:
            if name in self._calls and name not in visited:
                return name
        return None


def _functions_and_calls(
    module: IndexedModule,
) -> tuple[list[ir.Operation], list[bool], list[_Call]]:
    """Return the functions, which of them have a body, and the calls, in the order of the text."""
    edit = module.open_edit
    if edit is not None:
        roots = edit.numbers(FUNCTION)
        places = {root: place for place, root in enumerate(roots)}
        calls = [(places.get(root), edit.ops[call]) for root, call in edit.in_roots(CALL)]
        bodies = [len(edit.content(root)) > 0 for root in roots]
        return [edit.ops[root] for root in roots], bodies, calls
    if module.is_numbered:
        return _numbered_functions_and_calls(module)
    functions = [op for op in module.root_ops() if op.name == FUNCTION]
    names = {symbol_name(op): place for place, op in enumerate(functions)}
    calls = []
    for call in module.read_ops(CALL):
        function = _enclosing_function(call)
        calls.append((None if function is None else names[symbol_name(function)], call))
    return functions, [len(op.regions[0].blocks) > 0 for op in functions], calls


def _numbered_functions_and_calls(
    module: IndexedModule,
) -> tuple[list[ir.Operation], list[bool], list[_Call]]:
    structure, ops = module.last_structure, module.late_ops
    parents = structure.parents
    roots = module.numbers(FUNCTION)
    places = {root: place for place, root in enumerate(roots)}
    calls: list[_Call] = []
    for call in module.numbers(CALL):
        root = call
        while parents[root] != NOTHING:
            root = parents[root]
        calls.append((places.get(root), ops[call]))
    return [ops[root] for root in roots], [root in structure.bodies for root in roots], calls


def _enclosing_function(op: ir.Operation) -> ir.Operation | None:
    """Return the function that an op is in; None where it stands in the module itself."""
    parent = op.parent
    while parent is not None and parent.operation.name != FUNCTION:
        parent = parent.operation.parent
    return parent and parent.operation


def too_many_copies(op: ir.Operation) -> DiagnosticError:
    """Return the error for a module that would have more than MAX_COPIES copies of bodies."""
    return op_error(op, f"more than {MAX_COPIES:,} copies are needed for one of each call")
