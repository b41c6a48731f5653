"""The ops of a module in the order of the text, found by name or by position."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypeVar

from jaxlib.mlir import ir

from sdy.ir.op_names import MODULE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["NamedOp", "OpIndex", "Piece", "grouped_by_name", "ops_below", "positions_of"]

NamedOp: TypeAlias = tuple[str, ir.Operation]

_T = TypeVar("_T")

Piece: TypeAlias = range | NamedOp
"""Ops that stand one behind the other: old ones, by their positions, or a new one."""


class OpIndex:
    """Ops with their names, parents first, in the order of the text.

    Attributes:
      names: of the ops, by position.
      ops: by position.
      distinct_names: the names, each once, in the order of the text.

    """

    def __init__(self, names: list[str], ops: list[ir.Operation]) -> None:
        self.names = names
        self.ops = ops
        self.distinct_names = dict.fromkeys(names)
        self._pairs: list[NamedOp] | None = None
        self._named: dict[str, list[ir.Operation]] = {}
        self._positions: dict[str, list[int]] = {}

    def pairs(self) -> list[NamedOp]:
        """Return the names with the ops."""
        if self._pairs is None:
            self._pairs = list(zip(self.names, self.ops, strict=True))
        return self._pairs

    def named(self, name: str) -> list[ir.Operation]:
        """Return the ops of that name."""
        known = self._named.get(name)
        if known is None:
            known = self._named[name] = [self.ops[position] for position in self.positions(name)]
        return known

    def positions(self, name: str) -> list[int]:
        """Return where the ops of that name stand."""
        known = self._positions.get(name)
        if known is None:
            found = positions_of(name, self.names) if name in self.distinct_names else []
            known = self._positions[name] = found
        return known

    def rearranged(self, pieces: Iterable[Piece]) -> OpIndex:
        """Return the index of a module in which ops have moved, come or gone.

        Args:
          pieces: what stands there now, in the order of the text.

        """
        names: list[str] = []
        ops: list[ir.Operation] = []
        for piece in pieces:
            if isinstance(piece, range):
                names += self.names[piece.start : piece.stop]
                ops += self.ops[piece.start : piece.stop]
            else:
                names.append(piece[0])
                ops.append(piece[1])
        return OpIndex(names, ops)


def positions_of(name: str, names: list[str]) -> list[int]:
    """Return where a name stands in a list."""
    positions: list[int] = []
    # The search for the next one is many times as fast as a loop over all.
    position = -1
    for _ in range(names.count(name)):
        position = names.index(name, position + 1)
        positions.append(position)
    return positions


def grouped_by_name(names: list[str], items: Sequence[_T]) -> dict[str, list[_T]]:
    """Return the items of each name, in their order."""
    by_name: dict[str, list[_T]] = {}
    for name, item in zip(names, items, strict=True):
        group = by_name.get(name)
        if group is None:
            by_name[name] = [item]
        else:
            group.append(item)
    return by_name


def ops_below(
    module: ir.Module, order: ir.WalkOrder = ir.WalkOrder.PRE_ORDER
) -> list[ir.Operation]:
    """Return the ops below a module; a module nested in it is one op.

    Args:
      module: the module.
      order: parents first, in the order of the text, or parents last.

    """
    ops: list[ir.Operation] = []
    advance = ir.WalkResult.ADVANCE

    def visit(op: ir.Operation) -> ir.WalkResult:
        ops.append(op)
        return advance

    for view in module.body.operations:
        op = view.operation
        if op.name == MODULE:
            ops.append(op)
        else:
            op.walk(visit, order)
    return ops
