"""From the sdy dialect to a module that goes through HLO and comes back with all it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.passes.base import option
from sdy.passes.gspmd.export_shardings import ExportShardings
from sdy.passes.gspmd.round_trip.export_attributes import RoundTripExportShardyAttrs
from sdy.passes.gspmd.round_trip.shard_map_export import RoundTripShardMapExport
from sdy.passes.options import format_options
from sdy.passes.pass_pipeline import PassPipeline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sdy.passes.base import Pass

__all__ = ["RoundTripExportPipeline"]


@dataclass(frozen=True, slots=True)
class RoundTripExportPipeline(PassPipeline):
    """Writes all of the sdy dialect as StableHLO that HLO can carry, for a later import.

    Shardings, sharding rules and meshes are kept as text in frontend attributes, ops as custom
    calls. `xla-sdy-round-trip-import-pipeline` is the way back. This is the form in which JAX
    hands a program to XLA.
    """

    name: ClassVar[str] = "xla-sdy-round-trip-export-pipeline"

    keep_meshes_inlined: bool = option(
        False, "Whether meshes that are spelled out in shardings get no names."
    )
    enable_hlo_sharding_v3: bool = option(
        False, "Whether HloShardings name meshes and axes, so that little is left to keep as text."
    )

    def text(self) -> str:
        """Return the passes in their order."""
        return ",".join(self._passes())

    def _passes(self) -> Iterator[str]:
        v3 = self.enable_hlo_sharding_v3
        yield "sdy-sink-func-data-flow-edges"
        yield "sdy-export-named-computations"
        yield "sdy-sink-data-flow-edges"
        if not self.keep_meshes_inlined:
            yield "sdy-lift-inlined-meshes"
        yield "xla-sdy-round-trip-dedup-meshes"
        yield "xla-sdy-round-trip-export-ops"
        yield _text(RoundTripShardMapExport(enable_hlo_sharding_v3=v3))
        yield _text(RoundTripExportShardyAttrs(enable_hlo_sharding_v3=v3))
        yield _text(ExportShardings(enable_hlo_sharding_v3=v3))


def _text(pass_: Pass) -> str:
    return pass_.name + format_options(pass_)
