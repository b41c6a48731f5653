"""The function of a module that a user calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.dialect.errors import Error
from sdy.ir.op_names import FUNCTION
from sdy.ir.symbols import symbol_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jaxlib.mlir import ir

    from sdy.ir.indexed_module import IndexedModule

__all__ = ["function_named_main", "main_function"]

_MAIN = "main"


def main_function(module: IndexedModule, *, is_read_only: bool = False) -> ir.Operation | None:
    """Return the only function of a module, or the one named main; None where it has none.

    Args:
      module: the module.
      is_read_only: whether the caller changes nothing that the structure of the module tells, and
        looks at no attribute of ops in the function.

    Raises:
      Error: where no function of several is named main.

    """
    if is_read_only:
        functions = [op for op in module.root_ops() if op.name == FUNCTION]
    else:
        functions = module.ops(FUNCTION)
    if len(functions) < 2:
        return functions[0] if functions else None
    found = function_named_main(functions)
    if found is None:
        raise Error(f"the module has {len(functions)} functions and none is named @{_MAIN}")
    return found


def function_named_main(functions: Iterable[ir.Operation]) -> ir.Operation | None:
    """Return the first function that is named main; None where none is."""
    return next((function for function in functions if symbol_name(function) == _MAIN), None)
