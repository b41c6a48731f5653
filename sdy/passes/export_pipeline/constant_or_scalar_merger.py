"""Merges equal constants and equal broadcasts of one scalar."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from sdy.ir.constants import attributes_key
from sdy.ir.op_names import FUNCTION
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
    anchor: ClassVar[str] = FUNCTION

    def run(self, module: IndexedModule) -> None:
        """Merge the ops in place."""
        first: dict[Hashable, ir.Operation] = {}
        merged: dict[int, ir.Operation] = {}
        has_no_dimensions = cache(is_scalar)
        for position, (name, op) in enumerate(module.in_order):
            if name == _BROADCAST:
                scalar = op.operands[0]
                if not has_no_dimensions(scalar.type):
                    continue
                key: Hashable = (scalar, op.result.type, op.block, attributes_key(op))
            elif name in CONSTANT_LIKE:
                key = (op.block, attributes_key(op))
            else:
                continue
            kept = first.setdefault(key, op)
            if kept is not op:
                op.result.replace_all_uses_with(kept.result)
                merged[position] = op
        if merged:
            module.replace_at(dict.fromkeys(merged, ()))
        for op in merged.values():
            op.erase()
