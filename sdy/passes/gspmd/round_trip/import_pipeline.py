"""From what came through HLO to the sdy dialect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.passes.base import option
from sdy.passes.gspmd.round_trip.import_attributes import RoundTripImportShardyAttrs
from sdy.passes.options import format_options
from sdy.passes.pass_pipeline import PassPipeline

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["RoundTripImportPipeline"]


@dataclass(frozen=True, slots=True)
class RoundTripImportPipeline(PassPipeline):
    """Reads all of the sdy dialect back that `xla-sdy-round-trip-export-pipeline` has written.

    The module is made ready for propagation on the way: tuples are flattened, constants are kept
    from being folded, what loops capture is opened, and the module is canonicalised.
    """

    name: ClassVar[str] = "xla-sdy-round-trip-import-pipeline"

    enable_constant_import: bool = option(True, "Whether constants become sdy.constant ops.")
    lift_and_dedup_meshes: bool = option(
        False, "Whether meshes that are spelled out get names, and equal ones become one."
    )
    enable_hlo_sharding_v3: bool = option(
        False, "Whether shardings are read from HloShardings, which name meshes and axes."
    )

    def text(self) -> str:
        """Return the passes in their order."""
        return ",".join(self._passes())

    def _passes(self) -> Iterator[str]:
        yield "symbol-dce"
        if self.enable_constant_import:
            yield "xla-sdy-import-constants"
        yield "stablehlo-ext-canonicalize-from-hlo-import"
        attributes = RoundTripImportShardyAttrs(enable_hlo_sharding_v3=self.enable_hlo_sharding_v3)
        yield attributes.name + format_options(attributes)
        yield "xla-sdy-round-trip-shard-map-import"
        yield "xla-sdy-import-sdy-custom-calls"
        yield "xla-sdy-open-while-free-vars-sharding"
        if self.enable_hlo_sharding_v3 or self.lift_and_dedup_meshes:
            yield "sdy-lift-inlined-meshes"
            yield "xla-sdy-round-trip-dedup-meshes"
        yield "canonicalize"
