"""From shardings of the sdy dialect to a module that XLA's SPMD partitioner reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.passes.base import option
from sdy.passes.gspmd.capture_loop_invariants import CaptureLoopInvariants
from sdy.passes.gspmd.export_ops import ExportOps
from sdy.passes.gspmd.export_reductions import ExportManualReductionCollectives
from sdy.passes.gspmd.export_shardings import ExportShardings
from sdy.passes.gspmd.shard_map_export import ShardMapExport
from sdy.passes.options import format_options
from sdy.passes.pass_pipeline import PassPipeline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sdy.passes.base import Pass

__all__ = ["StablehloExportPipeline"]


@dataclass(frozen=True, slots=True)
class StablehloExportPipeline(PassPipeline):
    """Turns the sdy dialect into what XLA's SPMD partitioner (GSPMD) reads.

    Reshards and collectives become copies, manual computations calls between custom calls that
    change shapes, named computations calls, and shardings `mhlo.sharding` attributes.
    """

    name: ClassVar[str] = "xla-sdy-stablehlo-export-pipeline"

    keep_hlo_sharding_constraints: bool = option(
        False, "Whether reshards and constraints become @Sharding custom calls, not copies."
    )
    add_missing_sharding_to_control_flow: bool = option(
        True, "Whether loops and branches without a sharding are replicated."
    )
    enable_hlo_sharding_v3: bool = option(
        False, "Whether the HloShardings name their mesh and axes."
    )
    export_all_reduce_scatter: bool = option(
        False, "Whether reduce-scatters of whole tensors are written out too, not left to XLA."
    )
    simplify_replicated_shardings: bool = option(
        False, "Whether HloShardings with names leave the mesh out where nothing is split."
    )
    replicate_missing: bool = option(
        False,
        "Whether all that has no sharding is replicated, so that GSPMD has nothing to decide.",
        in_shardy=False,
    )
    keep_open: bool = option(
        False,
        "Whether the module was not propagated: what is open is left to GSPMD, and ops that only "
        "propagation obeys are errors.",
        in_shardy=False,
    )

    def text(self) -> str:
        """Return the passes in their order."""
        return ",".join(self._passes())

    def _passes(self) -> Iterator[str]:
        yield "sdy-sink-func-data-flow-edges"
        yield "sdy-export-named-computations"
        yield "sdy-sink-data-flow-edges"
        if self.replicate_missing:
            yield "sdy-propagate-sharding-from-func-to-call"
        if self.replicate_missing or self.keep_open:
            yield _text(CaptureLoopInvariants(replicate_missing=self.replicate_missing))
        yield _text(
            ExportManualReductionCollectives(
                export_all_reduce_scatter=self.export_all_reduce_scatter
            )
        )
        yield _text(
            ExportOps(
                keep_hlo_sharding_constraints=self.keep_hlo_sharding_constraints,
                keep_open=self.keep_open,
            )
        )
        yield _text(
            ShardMapExport(create_hlo_sharding_constraints=self.keep_hlo_sharding_constraints)
        )
        yield "symbol-dce"
        yield _text(
            ExportShardings(
                add_missing_sharding_to_control_flow=self.add_missing_sharding_to_control_flow,
                enable_hlo_sharding_v3=self.enable_hlo_sharding_v3,
                simplify_replicated_shardings=self.simplify_replicated_shardings,
                replicate_missing=self.replicate_missing,
                keep_open=self.keep_open,
            )
        )
        yield "xla-sdy-stablehlo-round-trip-export-callback-custom-calls"


def _text(pass_: Pass) -> str:
    return pass_.name + format_options(pass_)
