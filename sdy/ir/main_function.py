"""The function of a module that a user calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.dialect.errors import Error
from sdy.ir.sharding_access import FUNCTION
from sdy.ir.symbols import symbol_name

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.ir.indexed_module import IndexedModule

__all__ = ["main_function"]

_MAIN = "main"


def main_function(module: IndexedModule) -> ir.Operation:
    """Return the only function of a module, or the one named main; `sdy.Error` without one."""
    functions = module.ops(FUNCTION)
    if len(functions) == 1:
        return functions[0]
    for function in functions:
        if symbol_name(function) == _MAIN:
            return function
    raise Error(f"the module has {len(functions)} functions and none is named @{_MAIN}")
