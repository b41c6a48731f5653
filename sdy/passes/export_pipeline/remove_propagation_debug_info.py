"""Removes what propagation noted on where shardings come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.ir.attribute_removal import remove_attributes, remove_signature_attributes
from sdy.ir.op_names import FUNCTION
from sdy.passes.base import Pass

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["RemovePropagationDebugInfo"]

_DEBUG_INFO = (
    "sdy.propagation_edges",
    "sdy.block_arg_propagation_edges",
    "sdy.result_propagation_edges",
    "sdy.sharding_origins",
    "sdy.block_arg_sharding_origins",
    "sdy.result_sharding_origins",
)


@dataclass(frozen=True, slots=True)
class RemovePropagationDebugInfo(Pass):
    """Removes sharding origins and propagation edges from ops, arguments and results."""

    name: ClassVar[str] = "sdy-remove-propagation-debug-info"

    def run(self, module: IndexedModule) -> None:
        """Remove them in place."""
        remove_attributes((op for name, op in module.in_order if name != FUNCTION), _DEBUG_INFO)
        remove_signature_attributes(module, _DEBUG_INFO)
