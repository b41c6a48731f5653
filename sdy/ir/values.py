"""The values of a module by the names that its text has for them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["FunctionResult", "find_value", "functions", "operations", "signature", "values_of"]

_RESULT = re.compile(r"@(?P<function>.+) result (?P<index>\d+)")


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
    """Return the symbol of a function, without the @."""
    name: str = ir.StringAttr(function.attributes["sym_name"]).value
    return name


def signature(function: ir.Operation) -> ir.FunctionType:
    """Return the type of a function."""
    return ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)


def functions(module: ir.Module) -> Iterator[ir.Operation]:
    """Yield the functions of a module in the order of the text."""
    for op in module.body.operations:
        if op.operation.name == "func.func":
            yield op.operation


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


def find_value(module: ir.Module, name: str, function: str = "main") -> ir.Value | FunctionResult:
    """Return the value that the module's text names so.

    Args:
      module: the module.
      name: `%arg0`, `%0`, `%0#1` as printed; `@main result 0` for a result of a function.
      function: in which function the name stands; text has the same names in each.

    Raises:
      Error: where there is no such function or value.

    """
    asked = _RESULT.fullmatch(name)
    found = _function(module, asked["function"] if asked else function)
    if asked:
        return _function_result(found, int(asked["index"]))
    state = ir.AsmState(module.operation)
    for op in [found, *operations(found)]:
        for value in values_of(op):
            if value.get_name(state) == name:
                return value
    raise Error(f"no value '{name}' in function @{function}")


def _function_result(function: ir.Operation, index: int) -> FunctionResult:
    count = len(signature(function).results)
    if index >= count:
        raise Error(f"function @{function_name(function)} has {count} results, no result {index}")
    return FunctionResult(function, index)


def _function(module: ir.Module, name: str) -> ir.Operation:
    by_name = {function_name(function): function for function in functions(module)}
    if name not in by_name:
        known = ", ".join(f"@{known}" for known in by_name) or "none"
        raise Error(f"no function @{name}; the module's functions are: {known}")
    return by_name[name]
