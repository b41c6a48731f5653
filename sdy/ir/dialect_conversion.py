"""What MLIR's dialect conversion does to the order of uses.

Shardy converts a few ops with it. On the way it visits every op of an unknown kind, tries to
fold it and puts its operands back, which makes them the newest uses of their values. Afterwards
the uses of every value stand in the reverse order of the text, and those of a value that
replaced another in the order of the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Sequence

    from jaxlib.mlir import ir

    from sdy.ir.structure import Structure

__all__ = ["renew_operands", "renew_uses"]


def renew_operands(op: ir.Operation) -> None:
    """Make the operands of `op` the newest uses of their values."""
    operands = op.operands
    for number, value in enumerate(list(operands)):
        operands[number] = value


def renew_uses(
    values: Collection[int],
    structure: Structure,
    ops: Sequence[ir.Operation],
    left_alone: Container[int] = (),
) -> None:
    """Let the uses of values be in the reverse order of the text.

    That leaves what renewing the operands of all ops would leave, if all other values have
    their uses in that order.

    Args:
      values: numbers of values.
      structure: tells who uses them.
      ops: by number.
      left_alone: numbers of ops whose uses are not renewed, so become the oldest.

    """
    for user in sorted({user for value in values for user in structure.users[value]}):
        if user in left_alone:
            continue
        operands = ops[user].operands
        for number, value in enumerate(structure.operands[user]):
            if value in values:
                operands[number] = operands[number]
