"""Finds constants, and broadcasts of one scalar, that are equal, and lets one be used for all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sdy.ir.constants import attributes_key
from sdy.ir.op_traits import CONSTANT_LIKE
from sdy.ir.structure import NOTHING
from sdy.ir.types import is_scalar

if TYPE_CHECKING:
    from collections.abc import Hashable

    from jaxlib.mlir import ir
    from mypy_extensions import i64

    from sdy.ir.indexed_module import IndexedModule

__all__ = ["Merger"]

_BROADCAST: Final = "stablehlo.broadcast_in_dim"
_MERGED: Final = CONSTANT_LIKE | {_BROADCAST}

_Key = tuple[int, int, "Hashable", tuple[int, ...]]


class _Kept:
    """An op that is used for others.

    Attributes:
      value: its result.
      handle: the same.
      last_user: the last op in the text that uses it.
      is_usual: whether its uses are known to be in the usual order.

    """

    def __init__(self, value: int, handle: ir.Value, last_user: i64, *, is_usual: bool) -> None:
        self.value = value
        self.handle = handle
        self.last_user: i64 = last_user
        self.is_usual = is_usual


class Merger:
    """One run of the pass, with ops and values as they are numbered in the module's structure.

    Attributes:
      merged: the ops that nothing uses any longer, as another is as good.

    """

    def __init__(self, module: IndexedModule) -> None:
        self.merged: list[int] = []
        self._module = module
        self._structure = module.last_structure
        self._ops = module.late_ops
        self._changes = module.changes
        self._first: dict[_Key, _Kept] = {}
        self._unchanged: dict[tuple[str, int, int], int] = {}
        self._keys: dict[Hashable, int] = {}
        self._is_scalar: dict[int, bool] = {}
        self._blocks: dict[int, bool] = {}
        self._columns = [module.attribute_numbers(name) for name in self._changes.attributes]

    def merge(self) -> None:
        """Let the first of ops that are equal be used in the place of the others."""
        names, erased = self._structure.names, self._changes.erased
        results = self._structure.results
        for number, name in enumerate(names):
            if name not in _MERGED or number in erased:
                continue
            key = self._key(number, name)
            if key is None:
                continue
            value = results.items[results.starts[number]]
            kept = self._first.get(key)
            handle = self._ops[number].results[0]
            if kept is None:
                self._first[key] = self._kept(value, handle)
            else:
                handle.replace_all_uses_with(kept.handle)
                self._changes.replaced[value] = kept.value
                self._note_order(kept, value)
                self.merged.append(number)
        self._changes.reordered.update(
            kept.value for kept in self._first.values() if not kept.is_usual
        )

    def _kept(self, value: int, handle: ir.Value) -> _Kept:
        users = self._structure.users
        start, end = users.starts[value], users.starts[value + 1]
        last_user: i64 = NOTHING if start == end else users.items[end - 1]
        is_usual = value not in self._structure.use_orders and value not in self._changes.reordered
        return _Kept(value, handle, last_user, is_usual=is_usual)

    def _note_order(self, kept: _Kept, value: int) -> None:
        """Note in which order the uses of an op stand now that it has got those of another.

        They are the newest, in the reverse of the order in which they were.
        """
        users = self._structure.users
        start, end = users.starts[value], users.starts[value + 1]
        if start == end:
            return
        user = users.items[start]
        kept.is_usual = kept.is_usual and end - start == 1 and user > kept.last_user
        kept.last_user = user

    def _key(self, number: int, name: str) -> _Key | None:
        """Return what is equal for ops that can be merged; None for an op that cannot be."""
        structure = self._structure
        operand: i64 = NOTHING
        kind: i64 = NOTHING
        if name == _BROADCAST:
            operand = structure.operands.items[structure.operands.starts[number]]
            if not self._has_scalar_operand(operand, number):
                return None
            operand = self._changes.replaced.get(operand, operand)
            kind = structure.types[structure.results.items[structure.results.starts[number]]]
        like = name, structure.attributes[number], structure.properties[number]
        unchanged = self._unchanged.get(like)
        if unchanged is None:
            # Constants of several names can be equal.
            self._module.write_attributes((number,))
            key = attributes_key(self._ops[number], without=self._changes.attributes)
            unchanged = self._unchanged[like] = self._keys.setdefault(key, len(self._keys))
        place = self._place(structure.parents[number], number)
        attributes = tuple([column[number] for column in self._columns])
        return operand, (kind << 32) + unchanged, place, attributes

    def _has_scalar_operand(self, operand: int, number: int) -> bool:
        kind = self._structure.types[operand]
        known = self._is_scalar.get(kind)
        if known is None:
            known = self._is_scalar[kind] = is_scalar(self._ops[number].operands[0].type)
        return known

    def _place(self, parent: int, number: int) -> Hashable:
        """Return what is equal for ops of one block."""
        if parent == NOTHING:
            return parent
        has_one = self._blocks.get(parent)
        if has_one is None:
            regions = self._ops[parent].regions
            has_one = self._blocks[parent] = len(regions) == 1 and len(regions[0].blocks) == 1
        return parent if has_one else self._ops[number].block
