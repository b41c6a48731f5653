"""Changes that leave the uses of values in the order in which MLIR's own changes leave them.

MLIR keeps the uses of a value newest first, and passes read them in that order, so it decides
what some of them answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from jaxlib.mlir import ir

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

__all__ = ["move_uses", "without_operands"]

Use: TypeAlias = "tuple[ir.Operation, int]"


def move_uses(old: ir.Value, new: ir.Value) -> None:
    """Let the users of `old` use `new`, in the order in which they used `old`.

    `replace_all_uses_with` reverses the order.
    """
    for user, number in reversed(_uses(old)):
        user.operands[number] = new


def without_operands(
    op: ir.Operation, dropped: Collection[int], attributes: Mapping[str, ir.Attribute]
) -> ir.Operation:
    """Replace an op by one without the operands at the positions `dropped`, and return that.

    The uses of all values stay in the order in which MLIR's `eraseOperands` leaves them.

    Args:
      op: the op; handles to it must not be used afterwards.
      dropped: positions of operands.
      attributes: the new op's; the old ones are not taken over.

    """
    kept = [i for i in range(len(op.operands)) if i not in dropped]
    operands = [op.operands[i] for i in kept]
    orders = [_order_without(op, value, kept) for value in dict.fromkeys(operands)]
    new = ir.Operation.create(
        op.name,
        [result.type for result in op.results],
        operands,
        dict(attributes),
        regions=len(op.regions),
        loc=op.location,
        ip=ir.InsertionPoint(op),
    )
    for region, new_region in zip(op.regions, new.regions, strict=True):
        for block in list(region.blocks):
            block.append_to(new_region)
    for result, new_result in zip(op.results, new.results, strict=True):
        move_uses(result, new_result)
    for value, order in zip(dict.fromkeys(operands), orders, strict=True):
        _reorder(value, [(new if user == op else user, number) for user, number in order])
    op.erase()
    return new


def _order_without(op: ir.Operation, value: ir.Value, kept: Sequence[int]) -> list[Use]:
    """Return the uses of `value` to come, newest first, those by `op` with new positions.

    An operand that moves to another position is a new use.
    """
    position = {old: new for new, old in enumerate(kept)}
    moved = [(op, position[i]) for i in kept if i != position[i] and op.operands[i] == value]
    stay = [
        (user, number)
        for user, number in _uses(value)
        if user != op or position.get(number) == number
    ]
    return moved[::-1] + stay


def _reorder(value: ir.Value, uses: Iterable[Use]) -> None:
    for user, number in reversed(list(uses)):
        user.operands[number] = value


def _uses(value: ir.Value) -> list[Use]:
    return [(use.owner.operation, use.operand_number) for use in value.uses]
