"""Names of symbols in a module: which are taken, and how a new one gets a free name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.errors import Error
from sdy.ir.diagnostics import op_error

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule

__all__ = [
    "SYMBOL",
    "VISIBILITY",
    "NotTextError",
    "SymbolNames",
    "is_private",
    "symbol_name",
    "text_of",
]

SYMBOL = "sym_name"
VISIBILITY = "sym_visibility"


class NotTextError(Error):
    """Bytes where a text is read are not UTF-8, which MLIR allows and Python's text cannot be."""


def text_of(attribute: ir.StringAttr | ir.FlatSymbolRefAttr) -> str:
    """Return what a string attribute says, or the name that a reference has.

    Raises:
      NotTextError: where that is not UTF-8.

    """
    try:
        text: str = attribute.value
    except RuntimeError:  # of nanobind
        raise NotTextError(f"not UTF-8: {attribute}") from None
    return text


def symbol_name(op: ir.Operation) -> str:
    """Return the name of an op that is a symbol, without the @.

    Raises:
      Error: at the op, where the name is not UTF-8.

    """
    try:
        return text_of(ir.StringAttr(op.attributes[SYMBOL]))
    except Error as error:
        raise op_error(op, f"the name of '{op.name}' is {error}") from None


def is_private(op: ir.Operation) -> bool:
    """Return whether an op is a symbol that only its module sees."""
    visibility = op.attributes.get(VISIBILITY)
    return visibility is not None and ir.StringAttr(visibility).value != "public"


class SymbolNames:
    """The names of a module's symbols; renames new ones as MLIR's `SymbolTable` does.

    A name that is taken gets a suffix `_0`, `_1`, ... The counter is one for all names, so that
    the names of two new symbols depend on their order.
    """

    def __init__(self, module: IndexedModule) -> None:
        self._taken = {symbol_name(op) for op in module.root_ops() if SYMBOL in op.attributes}
        self._counter = 0

    def claim(self, name: str) -> str:
        """Return `name`, or a free name made from it, and take it."""
        free = name
        while free in self._taken:
            free = f"{name}_{self._counter}"
            self._counter += 1
        self._taken.add(free)
        return free

    def release(self, name: str) -> None:
        """Make the name of a symbol that is erased free again."""
        self._taken.discard(name)
