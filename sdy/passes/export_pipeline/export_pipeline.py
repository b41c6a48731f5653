"""What is done to a module after propagation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.passes.base import option
from sdy.passes.canonicalize.labels import COLLECTIVE_LABEL, RESHARD_LABEL
from sdy.passes.export_pipeline.insert_explicit_reshards import InsertExplicitReshards
from sdy.passes.export_pipeline.sink_data_flow_edges import SinkDataFlowEdges
from sdy.passes.options import format_options
from sdy.passes.pass_pipeline import PassPipeline
from sdy.passes.save_module import SaveModule

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ExportPipeline"]


@dataclass(frozen=True, slots=True)
class ExportPipeline(PassPipeline):
    """Runs the passes that turn what propagation has found into what XLA expects."""

    name: ClassVar[str] = "sdy-export-pipeline"
    dump_directory: str = option(
        "", "Where to write the module to, after propagation and after each further stage."
    )
    avoid_export_for_partitioning: bool = option(
        False, "Whether to leave out what would keep the module from being propagated again."
    )
    enable_insert_explicit_collectives: bool = option(False, "Whether reshards become collectives.")
    remove_all_gather_reduce_scatter_for_cmv1: bool = option(
        False, "Whether collectives are left out that XLA's first collective matmul inserts itself."
    )
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
    remove_sub_axes_in_input_output_shardings: bool = option(
        True, "Whether inputs and outputs are not sharded along parts of axes.", in_shardy=False
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
            if self.remove_sub_axes_in_input_output_shardings:
                yield "sdy-remove-sub-axes-in-input-output-shardings"
        yield "sdy-close-shardings"
        yield from self._save(0, "after_propagation")
        if not self.avoid_export_for_partitioning:
            yield from self._partitioning()
        if self.dump_sharding_origins or self.dump_propagation_edges:
            yield "sdy-remove-propagation-debug-info"
        if not self.keep_sharding_rules:
            yield "sdy-drop-sharding-rules"

    def _partitioning(self) -> Iterator[str]:
        explicit = self.enable_insert_explicit_collectives
        reshards = InsertExplicitReshards(enable_full_version=explicit)
        yield reshards.name + format_options(reshards)
        if explicit:
            yield from self._save(1, "after_explicit_reshards")
            yield f"canonicalize{{enable-patterns={RESHARD_LABEL}}}"
            yield "sdy-reshard-to-collectives"
        yield f"canonicalize{{enable-patterns={COLLECTIVE_LABEL}}}"
        if not explicit:
            yield from self._save(1, "after_minimal_partitioner_with_global_shapes")
            return
        if self.remove_all_gather_reduce_scatter_for_cmv1:
            yield "sdy-remove-all-gather-reduce-scatter-for-cmv1"
        yield from self._save(2, "after_partitioner_with_global_shapes")

    def _save(self, index: int, name: str) -> Iterator[str]:
        if self.dump_directory:
            save = SaveModule(self.dump_directory, name, index)
            yield save.name + format_options(save)

    def _sink_data_flow_edges(self) -> str:
        sink = SinkDataFlowEdges(
            sink_debug_sharding_origins=self.dump_sharding_origins,
            sink_debug_propagation_edge_sharding=self.dump_propagation_edges,
        )
        return sink.name + format_options(sink)
