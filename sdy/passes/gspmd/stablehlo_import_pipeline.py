"""From a program of GSPMD's users to the sdy dialect, ready for propagation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.passes.base import option
from sdy.passes.gspmd.from_gspmd import FromGspmd
from sdy.passes.gspmd.round_trip.import_pipeline import RoundTripImportPipeline
from sdy.passes.pass_pipeline import PassPipeline

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["StablehloImportPipeline"]


@dataclass(frozen=True, slots=True)
class StablehloImportPipeline(PassPipeline):
    """Turns a module with `mhlo.sharding` attributes into one of the sdy dialect.

    As `sdy-from-gspmd` does, and with what `xla-sdy-round-trip-import-pipeline` does to make a
    module ready for propagation.
    """

    name: ClassVar[str] = "xla-sdy-stablehlo-import-pipeline"

    allow_propagation_to_args: bool = option(
        False, "Whether the dimensions of arguments of @main are open.", in_shardy=False
    )
    allow_propagation_to_results: bool = option(
        False, "Whether the dimensions of results of @main are open.", in_shardy=False
    )

    def text(self) -> str:
        """Return the passes in their order."""
        return ",".join(self._passes())

    def _passes(self) -> Iterator[str]:
        yield "stablehlo-ext-canonicalize-from-hlo-import"
        yield FromGspmd(
            allow_propagation_to_args=self.allow_propagation_to_args,
            allow_propagation_to_results=self.allow_propagation_to_results,
        ).text()
        yield RoundTripImportPipeline().text()
