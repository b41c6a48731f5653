"""A pass that stands for other passes."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdy.passes.base import Pass

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["PassPipeline"]


@dataclass(frozen=True, slots=True)
class PassPipeline(Pass):
    """Passes under one name, with options that say which they are.

    A pass manager runs, times and shows each of them on its own.
    """

    @abstractmethod
    def text(self) -> str:
        """Return the passes as a textual pipeline."""

    def run(self, module: IndexedModule) -> None:
        """Run the passes one after the other."""
        from sdy.passes.pass_manager import run_step
        from sdy.passes.pipeline import parse_pipeline

        for step in parse_pipeline(self.text()).steps:
            run_step(step, module)
