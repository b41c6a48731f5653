"""Constants become those of the sdy dialect, which MLIR does not fold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.ir.constants import copy_constant_as
from sdy.ir.op_names import FUNCTION, SDY_CONSTANT
from sdy.passes.base import Pass

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["ImportConstants"]

_CONSTANT = "stablehlo.constant"


@dataclass(frozen=True, slots=True)
class ImportConstants(Pass):
    """Turns every `stablehlo.constant` into an `sdy.constant`.

    So that passes which fold constants leave each where it is, with a sharding of its own.
    """

    name: ClassVar[str] = "xla-sdy-import-constants"
    anchor: ClassVar[str] = FUNCTION

    def run(self, module: IndexedModule) -> None:
        """Replace the constants in place."""
        constants = module.ops(_CONSTANT)
        for op in constants:
            new = copy_constant_as(SDY_CONSTANT, op)
            op.result.replace_all_uses_with(new.result)
            op.erase()
        if constants:
            module.ops_changed()
