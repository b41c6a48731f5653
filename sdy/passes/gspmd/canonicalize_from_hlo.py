"""What HLO needs and StableHLO does not goes: tuples, and values that loops only hand on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.ir.data_flow import WHILE
from sdy.ir.op_names import FUNCTION
from sdy.passes.base import Pass, option
from sdy.passes.gspmd.capture_loop_invariants import capture_without_copies
from sdy.passes.gspmd.flatten_tuples import FlattenTuples
from sdy.passes.gspmd.unused_ops import erase_unused

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["CanonicalizeFromHloImport"]

_RESHAPE = "stablehlo.reshape"


@dataclass(frozen=True, slots=True)
class CanonicalizeFromHloImport(Pass):
    """Takes away what a program has from HLO: tuples, and values that loops hand on unchanged.

    Tuples become many values, as with `sdy-flatten-tuples`. Loops capture what they do not change.
    Reshapes that only said how a result is sharded, which nothing uses, go.
    """

    name: ClassVar[str] = "stablehlo-ext-canonicalize-from-hlo-import"
    anchor: ClassVar[str] = FUNCTION

    entry_function_name: str = option("main", "The function whose arguments are flattened.")

    def run(self, module: IndexedModule) -> None:
        """Flatten tuples and capture invariants in place."""
        FlattenTuples(entry_function_name=self.entry_function_name).run(module)
        has_changed = erase_unused(module.ops(_RESHAPE))
        for loop in module.ops(WHILE):
            has_changed |= capture_without_copies(loop, module.codec)
        if has_changed:
            module.ops_changed()
