"""XLA's shardings and the ops that its partitioner reads become those of the sdy dialect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jaxlib.mlir import ir

from sdy.dialect.errors import check_type
from sdy.passes.base import option
from sdy.passes.gspmd.flatten_tuples import FlattenTuples
from sdy.passes.gspmd.import_shardings import ImportShardings
from sdy.passes.gspmd.outline_local_code import OutlineLocalCode
from sdy.passes.options import format_options
from sdy.passes.pass_pipeline import PassPipeline
from sdy.passes.pipeline import run_pipeline

__all__ = ["FromGspmd", "from_gspmd"]


def from_gspmd(module: ir.Module) -> ir.Module:
    """Turn XLA's shardings of a module into those of the sdy dialect, in place, and return it.

    Raises:
      Error: at an op that cannot be imported; the module is as it was.

    """
    check_type(module, ir.Module, "module", "an ir.Module (sdy.load makes one)")
    return run_pipeline(module, FromGspmd.name)


@dataclass(frozen=True, slots=True)
class FromGspmd(PassPipeline):
    """Turns a module that XLA's SPMD partitioner reads into one of the sdy dialect.

    The inverse of `sdy-to-gspmd`: shardings on meshes that are found for them, constraints,
    reshards and manual computations, many values for tuples, and no other change.
    """

    name: ClassVar[str] = "sdy-from-gspmd"

    allow_propagation_to_args: bool = option(
        False, "Whether the dimensions of arguments of @main are open."
    )
    allow_propagation_to_results: bool = option(
        False, "Whether the dimensions of results of @main are open."
    )

    def text(self) -> str:
        """Return the passes in their order."""
        shardings = ImportShardings(
            allow_propagation_to_args=self.allow_propagation_to_args,
            allow_propagation_to_results=self.allow_propagation_to_results,
        )
        return ",".join(
            (
                FlattenTuples.name,
                shardings.name + format_options(shardings),
                OutlineLocalCode.name,
                "xla-sdy-stablehlo-round-trip-shard-map-import",
                "xla-sdy-import-sdy-custom-calls",
                "sdy-import-copies",
            )
        )
