"""Propagation of a module from end to end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.passes.base import option
from sdy.passes.export_pipeline.export_pipeline import ExportPipeline
from sdy.passes.import_pipeline.import_pipeline import ImportPipeline
from sdy.passes.options import value_text
from sdy.passes.pass_pipeline import PassPipeline

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["PropagationPipeline"]


@dataclass(frozen=True, slots=True)
class PropagationPipeline(PassPipeline):
    """Runs the import passes, propagation, and the export passes.

    Each call is propagated through on its own: before, it becomes a named computation with a
    body of its own; after, calls whose bodies are sharded alike share a function again.
    """

    name: ClassVar[str] = "sdy-propagation-pipeline"
    dedup_functions_fully: bool = option(
        False, "Whether all calls of a function share one copy of it, however they are sharded."
    )
    follow_composites: bool = option(
        False,
        "Whether to propagate through the decompositions of composites, into them and back.",
        in_shardy=False,
    )
    enable_insert_explicit_collectives: bool = option(
        False, "Whether the program says itself where it communicates.", in_shardy=False
    )
    remove_sub_axes_in_input_output_shardings: bool = option(
        True, "Whether inputs and outputs are not sharded along parts of axes.", in_shardy=False
    )

    def text(self) -> str:
        """Return the passes in their order."""
        return ",".join(self._passes())

    def _passes(self) -> Iterator[str]:
        yield ImportPipeline(dedup_functions_fully=self.dedup_functions_fully).text()
        if self.dedup_functions_fully:
            yield "sdy-add-func-data-flow-edges"
        else:
            yield "sdy-flatten-call-graph"
            yield "symbol-dce"
            yield "sdy-import-func-calls"
            yield "symbol-dce"
            yield "sdy-apply-sharding-constraints"
            yield "sdy-sharding-group-import"
        yield "sdy-pre-order-funcs"
        # The export passes read the rules that propagation leaves on ops, and drop them.
        follow_composites = f"follow-composites={value_text(self.follow_composites)}"
        yield f"sdy-user-priority-propagate{{keep-sharding-rules=true {follow_composites}}}"
        if self.dedup_functions_fully:
            yield "sdy-propagate-to-func-results"
            yield "sdy-sink-func-data-flow-edges"
        else:
            yield "sdy-export-named-computations"
            yield "sdy-propagate-to-func-results"
        yield "sdy-unflatten-call-graph"
        yield "symbol-dce"
        yield "sdy-insert-func-call-reshards"
        yield ExportPipeline(
            enable_insert_explicit_collectives=self.enable_insert_explicit_collectives,
            remove_sub_axes_in_input_output_shardings=(
                self.remove_sub_axes_in_input_output_shardings
            ),
        ).text()
