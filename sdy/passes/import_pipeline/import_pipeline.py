"""What is done to a module before propagation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.passes.base import option
from sdy.passes.pass_pipeline import PassPipeline

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ImportPipeline"]


@dataclass(frozen=True, slots=True)
class ImportPipeline(PassPipeline):
    """Runs the passes that prepare a module for propagation."""

    name: ClassVar[str] = "sdy-import-pipeline"
    dedup_functions_fully: bool = option(
        False, "Whether all calls of a function share one copy of it, however they are sharded."
    )

    def text(self) -> str:
        """Return the passes in their order."""
        return ",".join(self._passes())

    def _passes(self) -> Iterator[str]:
        yield "symbol-dce"
        yield "sdy-lift-inlined-meshes"
        yield "sdy-remove-size-one-axes"
        yield "sdy-propagate-sharding-from-func-to-call"
        yield "sdy-constant-or-scalar-splitter"
        yield "symbol-dce"
        yield "sdy-manual-axes-cleanup"
        yield "sdy-add-data-flow-edges"
        if self.dedup_functions_fully:
            # Otherwise they wait until functions are flattened: see the propagation pipeline.
            yield "sdy-apply-sharding-constraints"
            yield "sdy-sharding-group-import"
