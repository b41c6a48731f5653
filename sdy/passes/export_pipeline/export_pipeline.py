"""What is done to a module after propagation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.passes.base import option
from sdy.passes.canonicalize.labels import COLLECTIVE, RESHARD
from sdy.passes.export_pipeline.sink_data_flow_edges import SinkDataFlowEdges
from sdy.passes.options import format_options
from sdy.passes.pass_pipeline import PassPipeline

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ExportPipeline"]


@dataclass(frozen=True, slots=True)
class ExportPipeline(PassPipeline):
    """Runs the passes that turn what propagation has found into what XLA expects."""

    name: ClassVar[str] = "sdy-export-pipeline"
    avoid_export_for_partitioning: bool = option(
        False, "Whether to leave out what would keep the module from being propagated again."
    )
    enable_insert_explicit_collectives: bool = option(False, "Whether reshards become collectives.")
    keep_sharding_rules: bool = option(False, "Whether ops keep their sharding rules.")
    dump_sharding_origins: bool = option(
        False, "Whether edges leave to their ops which user sharding each axis comes from."
    )
    dump_propagation_edges: bool = option(
        False, "Whether edges leave to their ops through which op each axis came."
    )
    avoid_reshards_on_calls: bool = option(
        False, "Accepted for the sake of command lines for Shardy, where it has no effect either."
    )
    update_non_divisible_input_output_shardings: bool = option(
        True, "Whether inputs and outputs are only sharded on axes that divide them evenly."
    )

    def text(self) -> str:
        """Return the passes in their order."""
        return ",".join(self._passes())

    def _passes(self) -> Iterator[str]:
        yield "sdy-constant-or-scalar-merger"
        yield self._sink_data_flow_edges()
        if not self.avoid_export_for_partitioning:
            yield "sdy-remove-sharding-groups"
            yield "sdy-sharding-constraint-to-reshard"
        if self.update_non_divisible_input_output_shardings:
            yield "sdy-update-non-divisible-input-output-shardings"
            yield "sdy-remove-sub-axes-in-input-output-shardings"
        yield "sdy-close-shardings"
        if not self.avoid_export_for_partitioning:
            yield from self._partitioning()
        if self.dump_sharding_origins or self.dump_propagation_edges:
            yield "sdy-remove-propagation-debug-info"
        if not self.keep_sharding_rules:
            yield "sdy-drop-sharding-rules"

    def _partitioning(self) -> Iterator[str]:
        if self.enable_insert_explicit_collectives:
            yield f"canonicalize{{enable-patterns={RESHARD}}}"
            yield "sdy-reshard-to-collectives"
        yield f"canonicalize{{enable-patterns={COLLECTIVE}}}"

    def _sink_data_flow_edges(self) -> str:
        sink = SinkDataFlowEdges(
            sink_debug_sharding_origins=self.dump_sharding_origins,
            sink_debug_propagation_edge_sharding=self.dump_propagation_edges,
        )
        return sink.name + format_options(sink)
