"""Finds constants, and broadcasts of one scalar, that are equal, and lets one be used for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.ir.constants import attributes_key
from sdy.ir.op_traits import CONSTANT_LIKE
from sdy.ir.structure import NOTHING
from sdy.ir.types import is_scalar

if TYPE_CHECKING:
    from collections.abc import Hashable

    from jaxlib.mlir import ir

    from sdy.ir.indexed_module import IndexedModule

__all__ = ["Merger"]

_BROADCAST = "stablehlo.broadcast_in_dim"
_MERGED = CONSTANT_LIKE | {_BROADCAST}


class Merger:
    """One run of the pass, with ops and values as they are numbered in the module's structure.

    Attributes:
      merged: the ops that nothing uses any longer, as another is as good.

    """

    def __init__(self, module: IndexedModule) -> None:
        self.merged: list[int] = []
        self._structure = module.last_structure
        self._ops = module.numbered_ops
        self._changes = module.changes
        self._first: dict[Hashable, tuple[int, ir.Value]] = {}
        self._unchanged: dict[tuple[str, int, int], int] = {}
        self._keys: dict[Hashable, int] = {}
        self._is_scalar: dict[int, bool] = {}
        self._blocks: dict[int, bool] = {}

    def merge(self) -> None:
        """Let the first of ops that are equal be used in the place of the others."""
        names, erased = self._structure.names, self._changes.erased
        for number in [i for i, name in enumerate(names) if name in _MERGED and i not in erased]:
            op = self._ops[number]
            key = self._key(number, names[number], op)
            if key is None:
                continue
            (value,) = self._structure.results[number]
            kept = self._first.get(key)
            if kept is None:
                self._first[key] = value, op.result
            else:
                op.result.replace_all_uses_with(kept[1])
                self._changes.replaced[value] = kept[0]
                self.merged.append(number)

    def _key(self, number: int, name: str, op: ir.Operation) -> Hashable:
        """Return what is equal for ops that can be merged; None for an op that cannot be."""
        structure = self._structure
        broadcast = None
        if name == _BROADCAST:
            (operand,) = structure.operands[number]
            operand = self._changes.replaced.get(operand, operand)
            if not self._has_scalar_operand(operand, op):
                return None
            broadcast = operand, structure.types[structure.results[number][0]]
        kind = name, structure.attributes[number], structure.properties[number]
        unchanged = self._unchanged.get(kind)
        if unchanged is None:
            # Constants of several names can be equal.
            key = attributes_key(op, without=self._changes.attributes)
            unchanged = self._unchanged[kind] = self._keys.setdefault(key, len(self._keys))
        changed = [op.attributes.get(name) for name in self._changes.attributes]
        return broadcast, self._place(structure.parents[number], op), unchanged, *changed

    def _has_scalar_operand(self, operand: int, op: ir.Operation) -> bool:
        kind = self._structure.types[operand]
        known = self._is_scalar.get(kind)
        if known is None:
            known = self._is_scalar[kind] = is_scalar(op.operands[0].type)
        return known

    def _place(self, parent: int, op: ir.Operation) -> Hashable:
        """Return what is equal for ops of one block."""
        has_one = self._blocks.get(parent)
        if has_one is None:
            if parent == NOTHING:
                return parent
            regions = self._ops[parent].regions
            has_one = self._blocks[parent] = len(regions) == 1 and len(regions[0].blocks) == 1
        return parent if has_one else op.block
