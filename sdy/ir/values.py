"""The values of a module by the names that its text has for them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.errors import Error, check_type
from sdy.dialect.suggestion import did_you_mean
from sdy.ir.diagnostics import file_location
from sdy.ir.op_names import FUNCTION, MODULE
from sdy.ir.symbols import SYMBOL, symbol_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = [
    "FunctionResult",
    "enclosing_module",
    "find_value",
    "function_name",
    "functions",
    "operations",
    "signature",
    "values_of",
]

_RESULT = re.compile(r"@(?P<function>.+) result (?P<index>[0-9]{1,9})")
_MOST_SHOWN = 8


@dataclass(frozen=True, slots=True)
class FunctionResult:
    """A result of a function, which MLIR has no value for.

    Attributes:
      function: the `func.func`.
      index: which result, from 0.

    """

    function: ir.Operation
    index: int

    def __str__(self) -> str:
        return f"@{function_name(self.function)} result {self.index}"

    @property
    def type(self) -> ir.Type:
        """The type of the result."""
        return signature(self.function).results[self.index]


def function_name(function: ir.Operation) -> str:
    """Return the symbol of a function, without the @: `f`, or `inner::@f` in a nested module."""
    names = [symbol_name(function)]
    module = enclosing_module(function)
    while module is not None and (outer := enclosing_module(module)) is not None:
        names.append(symbol_name(module) if SYMBOL in module.attributes else "")
        module = outer
    return "::@".join(reversed(names))


def enclosing_module(op: ir.Operation) -> ir.Operation | None:
    """Return the nearest module around an op; None for one that is in none."""
    try:
        parent = op.parent
        while parent is not None and parent.name != MODULE:
            parent = parent.parent
    except ValueError:  # of a detached op
        return None
    return None if parent is None else parent.operation


def signature(function: ir.Operation) -> ir.FunctionType:
    """Return the type of a function."""
    return ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)


def functions(module: ir.Operation) -> Iterator[ir.Operation]:
    """Yield the functions of a module and of those nested in it, in the order of the text."""
    for op in module.regions[0].blocks[0].operations:
        if op.operation.name == FUNCTION:
            yield op.operation
        elif op.operation.name == MODULE:
            yield from functions(op.operation)


def operations(root: ir.Operation) -> list[ir.Operation]:
    """Return the ops below `root`, parents first, in the order of the text."""
    ops: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        ops.append(op)
        return ir.WalkResult.ADVANCE

    root.walk(visit, ir.WalkOrder.PRE_ORDER)
    return ops[1:]


def values_of(op: ir.Operation) -> Iterator[ir.Value]:
    """Yield the results of an op, then the arguments of its blocks."""
    yield from op.results
    for region in op.regions:
        for block in region.blocks:
            yield from block.arguments


def find_value(
    module: ir.Module, name: str, function: str = "main", *, occurrence: int | None = None
) -> ir.Value | FunctionResult:
    """Return the value that the module's text names so.

    The value belongs to the module and may not be used longer: keep the module, too.

    Args:
      module: the module.
      name: `%arg0`, `%0`, `%0#1` as printed, whatever the source called it; `@main result 0` for
        a result of a function.
      function: in which function the name stands, `f`, or `inner::@f` for one of a nested module;
        text has the same names in each.
      occurrence: which value of that name, from 0 in the order of the text. Regions of one
        function may use the same names.

    Raises:
      Error: where there is no such function or value, or several.

    """
    check_type(module, ir.Module, "module", "an ir.Module")
    check_type(name, str, "name", "a str")
    check_type(function, str, "function", "a str")
    asked = _RESULT.fullmatch(name)
    found = _function(module, asked["function"] if asked else function)
    if asked:
        return _function_result(found, int(asked["index"]))
    state = ir.AsmState(module.operation)
    values = [value for op in [found, *operations(found)] for value in values_of(op)]
    named = [value for value in values if value.get_name(state) == name]
    if not named:
        known = list(dict.fromkeys(value.get_name(state) for value in values))
        raise Error(f"no value '{name}' in function @{function}{_hint(name, known)}")
    if occurrence is None and len(named) > 1:
        raise Error(_ambiguity(name, function, named))
    if occurrence is not None and not 0 <= occurrence < len(named):
        raise Error(f"'{name}' names {len(named)} values, there is no occurrence {occurrence}")
    return named[occurrence or 0]


def _hint(name: str, known: list[str]) -> str:
    """Return what a name that is not known may have been meant to be."""
    if f"{name}#0" in known:
        results = [other for other in known if other.startswith(f"{name}#")]
        return f"; the op has {len(results)} results, '{results[0]}' to '{results[-1]}'"
    if not known:
        return "; it has none"
    shown = ", ".join(known[:_MOST_SHOWN]) + (", ..." if len(known) > _MOST_SHOWN else "")
    return did_you_mean(name, known) or f"; in the module's text its values are {shown}"


def _ambiguity(name: str, function: str, values: Sequence[ir.Value]) -> str:
    """Return the message about values of one name, with the op and the place of each."""
    lines = [f"'{name}' names {len(values)} values in function @{function}; say which:"]
    for number, value in enumerate(values):
        op = value.owner.owner if isinstance(value, ir.BlockArgument) else value.owner
        place = file_location(op.location)
        at = "" if place is None else " at {}:{}:{}".format(*place)
        lines.append(f"  occurrence={number} is of '{op.operation.name}'{at}")
    return "\n".join(lines)


def _function_result(function: ir.Operation, index: int) -> FunctionResult:
    count = len(signature(function).results)
    if index >= count:
        raise Error(f"function @{function_name(function)} has {count} results, no result {index}")
    return FunctionResult(function, index)


def _function(module: ir.Module, name: str) -> ir.Operation:
    by_name = {function_name(function): function for function in functions(module.operation)}
    if name not in by_name:
        known = ", ".join(f"@{known}" for known in by_name) or "none"
        raise Error(f"no function @{name}; the module's functions are: {known}")
    return by_name[name]
