"""The lists of uses that MLIR keeps for values, followed while a module changes.

MLIR puts a new use of a value in front of the others, and an answer can depend on their order.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from mypy_extensions import i64

from sdy.ir.structure import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from librt.vecs import vec

    from sdy.ir.rows import Rows
    from sdy.ir.structure import Structure

__all__ = ["UseLists"]

_MOST_OPERANDS: Final = 1 << 32


class UseLists:
    """The uses of those values where they change; of the others the structure tells.

    A use is a number: that of the op times `_MOST_OPERANDS`, and that of the operand. So larger
    ones come later in the text.

    Attributes:
      _lists: for each value whose uses have changed these, the oldest first.

    """

    def __init__(self, structure: Structure, operands: Rows) -> None:
        """Start with what the structure tells.

        Args:
          structure: of the module as it was.
          operands: for each op the values that it takes; changes behind the lists of uses do.

        """
        self._structure = structure
        self._operands = operands
        self._old_count = len(structure.types)
        self._lists: dict[int, dict[int, None]] = {}
        self._first_values: list[int] = []
        self._clones: list[tuple[int, int, int]] = []

    def newest_first(self, value: int) -> list[tuple[int, int]]:
        """Return the uses of a value as ops and positions, in MLIR's order."""
        return [divmod(use, _MOST_OPERANDS) for use in reversed(self._of(value))]

    def add(self, value: int, op: int, position: int) -> None:
        """Let an op use a value anew, as its operand at that position."""
        self._of(value)[op * _MOST_OPERANDS + position] = None

    def drop(self, value: int, op: int, position: int) -> None:
        """Let an op no longer use a value."""
        del self._of(value)[op * _MOST_OPERANDS + position]

    def move_all(self, value: int, target: int) -> list[tuple[int, int]]:
        """Let all uses of a value become uses of another, one after the other, the newest first.

        Returns:
          the ops and positions.

        """
        moved = list(self._of(value))[::-1]
        self._lists[value] = {}
        self._of(target).update(dict.fromkeys(moved))
        return [divmod(use, _MOST_OPERANDS) for use in moved]

    def put_between(self, value: int, target: int, op: int) -> list[tuple[int, int]]:
        """Let all uses of a value become uses of a new one, the newest first, but for one by `op`.

        Returns:
          the ops and positions.

        """
        moved = list(self._of(value))
        self._lists[target] = dict.fromkeys(reversed(moved))
        self._lists[value] = {op * _MOST_OPERANDS: None}
        return [(use // _MOST_OPERANDS, use % _MOST_OPERANDS) for use in moved]

    def reverse(self, value: int) -> None:
        """Let all uses of a value become uses of another, which takes its place and number."""
        self._lists[value] = dict.fromkeys(reversed(self._of(value)))

    def renew(self, value: int) -> None:
        """Let the uses of a value be in the reverse order of the text."""
        self._lists[value] = dict.fromkeys(sorted(self._of(value)))

    def touch(self, value: int) -> None:
        """Note that users of a value move in the text."""
        self._of(value)

    def cloned(self, values: range, ops: range) -> None:
        """Note that there are new values, which only new ops use, in the usual order."""
        self._first_values.append(values.start)
        self._clones.append((values.stop, ops.start, ops.stop))

    def orders(self, values: vec[i64], ops: vec[i64]) -> dict[int, dict[int, int]]:
        """Return what `Structure.use_orders` is after the changes.

        Args:
          values: for each value the number that it gets; NOTHING for one that is no more.
          ops: the same for ops.

        """
        orders: dict[int, dict[int, int]] = {}
        for value, order in self._structure.use_orders.items():
            if value not in self._lists and values[value] != NOTHING:
                orders[values[value]] = order
        for value, uses in self._lists.items():
            if len(uses) > 1 and values[value] != NOTHING:
                order = _order(
                    [
                        ops[use // _MOST_OPERANDS] * _MOST_OPERANDS + use % _MOST_OPERANDS
                        for use in uses
                        if ops[use // _MOST_OPERANDS] != NOTHING
                    ]
                )
                if order:
                    orders[values[value]] = order
        return orders

    def _of(self, value: int) -> dict[int, None]:
        known = self._lists.get(value)
        if known is None:
            known = self._lists[value] = self._unchanged(value)
        return known

    def _unchanged(self, value: int) -> dict[int, None]:
        if value >= self._old_count:
            return self._of_clone(value)
        structure = self._structure
        if value in structure.use_orders:
            uses = structure.uses(value)[::-1]
            return dict.fromkeys([op * _MOST_OPERANDS + position for op, position in uses])
        found: dict[int, None] = {}
        users = structure.users
        last: i64 = NOTHING
        for place in range(users.starts[value], users.starts[value + 1]):
            op = users.items[place]
            if op != last:
                _add_uses(op, value, structure.operands, found)
                last = op
        return found

    def _of_clone(self, value: int) -> dict[int, None]:
        """Return the uses of a new value that have not changed."""
        found: dict[int, None] = {}
        index = bisect_right(self._first_values, value) - 1
        if index >= 0 and value < self._clones[index][0]:
            _, first, end = self._clones[index]
            for op in range(i64(first), i64(end)):
                _add_uses(op, value, self._operands, found)
        return found


def _add_uses(op: i64, value: i64, operands: Rows, found: dict[int, None]) -> None:
    """Add the uses of a value by one op."""
    start = operands.starts[op]
    for place in range(start, operands.starts[op + 1]):
        if operands.items[place] == value:
            found[op * _MOST_OPERANDS + place - start] = None


def _order(uses: Iterable[int]) -> dict[int, int]:
    """Return where uses stand that are not in their usual place, by that place.

    Args:
      uses: the oldest first.

    """
    found = list(uses)[::-1]
    usual = sorted(found, reverse=True)
    if found == usual:
        return {}
    places = {use: place for place, use in enumerate(found)}
    return {index: places[use] for index, use in enumerate(usual) if places[use] != index}
