"""Turns named computations into calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.ir.data_flow import NAMED_COMPUTATION
from sdy.passes.base import Pass
from sdy.passes.export_pipeline.computation_exporter import ComputationExporter

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["ExportNamedComputations"]


@dataclass(frozen=True, slots=True)
class ExportNamedComputations(Pass):
    """Replaces every `sdy.named_computation` by a call of a new private function.

    The function has the name of the named computation, with a suffix where it is taken, and the
    shardings of the body's arguments; the call has those of the results. Where there are
    data-flow edges, theirs count, and the edges go.
    """

    name: ClassVar[str] = "sdy-export-named-computations"

    def run(self, module: IndexedModule) -> None:
        """Export the named computations in place, the inner ones first."""
        if NAMED_COMPUTATION not in module.names:
            return
        exporter = ComputationExporter(module)
        ends = module.last_structure.ends
        numbers = sorted(module.numbers(NAMED_COMPUTATION), key=ends.__getitem__)
        for number in numbers:
            exporter.export(number)
        exporter.finish()
        module.apply(exporter.edit)
