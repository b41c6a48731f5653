"""Merges equal constants and equal broadcasts of one scalar."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from sdy.ir.constants import attributes_key
from sdy.ir.op_traits import CONSTANT_LIKE
from sdy.ir.types import is_scalar
from sdy.passes.base import Pass

if TYPE_CHECKING:
    from collections.abc import Hashable

    from jaxlib.mlir import ir

    from sdy.ir.indexed_module import IndexedModule

__all__ = ["ConstantOrScalarMerger"]

_BROADCAST = "stablehlo.broadcast_in_dim"


@dataclass(frozen=True, slots=True)
class ConstantOrScalarMerger(Pass):
    """Merges constants, and broadcasts of one scalar, that are equal and sharded alike.

    Undoes `sdy-constant-or-scalar-splitter` where propagation has sharded the copies alike. All
    attributes must be equal, and both ops in one region; the first op stays.
    """

    name: ClassVar[str] = "sdy-constant-or-scalar-merger"
    anchor: ClassVar[str] = "func.func"

    def run(self, module: IndexedModule) -> None:
        """Merge the ops in place."""
        merger = _Merger()
        for op in _constants(module):
            merger.merge((op.block, attributes_key(op)), op)
        has_no_dimensions = cache(is_scalar)
        for op in module.ops(_BROADCAST):
            operand = op.operands[0]
            if has_no_dimensions(operand.type):
                merger.merge((operand, op.result.type, op.block, attributes_key(op)), op)
        module.replace_ops(dict.fromkeys(merger.merged, ()))
        for op in merger.merged:
            op.erase()


def _constants(module: IndexedModule) -> list[ir.Operation]:
    names = CONSTANT_LIKE & module.ops_by_name.keys()
    if len(names) > 1:
        return [op for name, op in module.in_order if name in names]
    return [op for name in names for op in module.ops(name)]


class _Merger:
    """Replaces the results of ops by those of earlier ones with the same key.

    Attributes:
      merged: the ops that are of no use any more.

    """

    def __init__(self) -> None:
        self.merged: list[ir.Operation] = []
        self._first: dict[Hashable, ir.Operation] = {}

    def merge(self, key: Hashable, op: ir.Operation) -> None:
        """Replace the result of `op` by that of the first op with that key, if it has one."""
        first = self._first.setdefault(key, op)
        if first is not op:
            op.result.replace_all_uses_with(first.result)
            self.merged.append(op)
