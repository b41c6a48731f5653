"""Shardings of the sdy dialect become those that XLA's SPMD partitioner (GSPMD) reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.dialect.errors import check_type
from sdy.passes.base import option
from sdy.passes.gspmd.stablehlo_export_pipeline import StablehloExportPipeline
from sdy.passes.options import format_options
from sdy.passes.pass_pipeline import PassPipeline
from sdy.passes.pipeline import run_pipeline

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ToGspmd", "to_gspmd"]


def to_gspmd(module: ir.Module, *, complete: bool = True) -> ir.Module:
    """Turn the shardings of a module into XLA's, in place, and return the module.

    Args:
      module: with shardings of the sdy dialect.
      complete: whether propagation has been run, so that a value without a sharding is
        replicated; else it is left out, for GSPMD to decide.

    Raises:
      Error: at an op that cannot be exported; the module is as it was.

    """
    check_type(module, ir.Module, "module", "an ir.Module (sdy.load makes one)")
    pipeline = ToGspmd(complete=complete)
    return run_pipeline(module, pipeline.name + format_options(pipeline))


@dataclass(frozen=True, slots=True)
class ToGspmd(PassPipeline):
    """Turns shardings into the `mhlo.sharding` attributes of XLA's SPMD partitioner.

    As `xla-sdy-stablehlo-export-pipeline` does, and so that GSPMD has nothing left to decide: a
    value without a sharding is taken to be replicated and is said to be. With `complete=false`,
    for a module that was not propagated, it is left out instead, as is a sharding that says
    nothing; reshards and constraints become `@Sharding` custom calls, and their open dimensions
    GSPMD's `unspecified_dims`.
    """

    name: ClassVar[str] = "sdy-to-gspmd"

    complete: bool = option(True, "Whether values without a sharding are replicated.")

    def text(self) -> str:
        """Return the passes in their order."""
        return ",".join(self._passes())

    def _passes(self) -> Iterator[str]:
        if self.complete:
            yield "sdy-remove-sharding-groups"
            yield StablehloExportPipeline(replicate_missing=True).text()
        else:
            yield StablehloExportPipeline(
                keep_hlo_sharding_constraints=True,
                add_missing_sharding_to_control_flow=False,
                keep_open=True,
            ).text()
