"""What MLIR's dialect conversion does to the order of uses.

Shardy converts a few ops with it. On the way it visits every op of an unknown kind, tries to
fold it and puts its operands back, which makes them the newest uses of their values. Afterwards
the uses of every value stand in the reverse order of the text, and those of a value that
replaced another in the order of the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxlib.mlir import ir

__all__ = ["renew_operands"]


def renew_operands(op: ir.Operation) -> list[ir.Value]:
    """Make the operands of `op` the newest uses of their values; return the operands."""
    operands = op.operands
    values = list(operands)
    for number, value in enumerate(values):
        operands[number] = value
    return values
