"""Merges equal constants and equal broadcasts of one scalar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.ir.op_names import FUNCTION
from sdy.passes.base import Pass
from sdy.passes.export_pipeline.equal_constants import Merger

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["ConstantOrScalarMerger"]


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
        merger = Merger(module)
        merger.merge()
        module.erase_numbered(merger.merged)
