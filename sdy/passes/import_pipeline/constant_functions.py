"""Functions whose results are constant where their operands are, and copies of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.ir.call_graph import callee_name, original_function_name, set_callee
from sdy.ir.function_clones import FunctionCloner

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.ir.function_clones import Clone
    from sdy.ir.symbols import SymbolNames

__all__ = ["Functions"]


class Functions:
    """What is known of the functions and named computations of a module.

    Attributes:
      non_constant: the functions with an op that is not constant for constant operands, by
        the name of the original where a function is a copy.
      non_constant_computations: the same for named computations.
      has_changed_bodies: whether a named computation was copied or erased.

    """

    def __init__(
        self, by_name: dict[str, ir.Operation], names: SymbolNames, module: ir.Module
    ) -> None:
        self.non_constant: set[str] = set()
        self.non_constant_computations: set[str] = set()
        self.has_changed_bodies = False
        self._by_name = by_name
        self._cloner = FunctionCloner(by_name, names, module)

    def is_constant_call(self, call: ir.Operation) -> bool:
        """Return whether a call has constant results where it has constant operands."""
        callee = self._by_name[callee_name(call)]
        return original_function_name(callee) not in self.non_constant

    def clone_callee(self, call: ir.Operation) -> None:
        """Let a call call a copy of its callee."""
        set_callee(call, self._cloner.clone(self._by_name[callee_name(call)]))

    @property
    def clones(self) -> list[Clone]:
        """The functions that are copies, in the order of the text."""
        return self._cloner.clones
