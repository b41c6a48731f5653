"""Functions that are called once and can give their bodies away, or more often and are cloned."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.ir.call_graph import callee_name
from sdy.ir.diagnostics import op_error
from sdy.ir.op_names import CALL, FUNCTION
from sdy.ir.symbols import symbol_name
from sdy.ir.values import operations

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["CalledBodies"]


class CalledBodies:
    """Hands out the functions of a module to calls that are to take the bodies over."""

    def __init__(self, module: IndexedModule) -> None:
        self._functions = {symbol_name(op): op for op in module.ops(FUNCTION)}
        self._calls = Counter(map(callee_name, module.ops(CALL)))

    def take(self, call: ir.Operation) -> ir.Operation:
        """Return the function that is called, or a clone where other calls still need it.

        The caller moves its body and erases it, and the call.

        Raises:
          Error: at the call, where the function has no body.

        """
        name = callee_name(call)
        function = self._functions.get(name)
        if function is None or not len(function.regions[0].blocks):
            raise op_error(call, f"function @{name} has no body to be that of a manual computation")
        self._calls[name] -= 1
        if self._calls[name]:
            clone = function.clone(ip=ir.InsertionPoint.after(function)).operation
            self._calls.update(callee_name(op) for op in operations(clone) if op.name == CALL)
            return clone
        del self._functions[name]
        return function
