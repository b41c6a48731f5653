"""The pass `sdy-propagation-pipeline`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.passes.base import Pass

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["PropagationPipeline"]


@dataclass(frozen=True, slots=True)
class PropagationPipeline(Pass):
    """Run the import passes, propagation and the export passes."""

    name: ClassVar[str] = "sdy-propagation-pipeline"

    def run(self, module: IndexedModule) -> None:
        """Run the pass."""
