"""Inserts reshards where an op's tensors are not sharded in ways that go together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.ir.data_flow import DATA_FLOW_OPS, region_terminator
from sdy.ir.op_names import FUNCTION
from sdy.ir.op_traits import is_terminator
from sdy.passes.base import Pass, option
from sdy.passes.export_pipeline.explicit_reshards.inserter import ALWAYS_RESHARDED, Inserter
from sdy.passes.export_pipeline.explicit_reshards.unreduced_search import may_have_unreduced_axes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jaxlib.mlir import ir

    from sdy.ir.indexed_module import IndexedModule, NamedOp

__all__ = ["InsertExplicitReshards"]

_HOLDERS = DATA_FLOW_OPS | {FUNCTION}


@dataclass(frozen=True, slots=True)
class InsertExplicitReshards(Pass):
    """Inserts reshards so that the shardings of each op go together.

    Dimensions of one factor are then sharded alike in all operands and results, and no axis
    splits two factors. What such an op leaves to do, such as summing up where a contracted
    dimension is split, becomes an explicit all-reduce. The tensors that win are the larger ones.

    By default only what must be is done: for calls, for concatenations whose operands are not all
    sharded as the result, for dots whose result is cheaper to reshard than their operands, and
    where axes are unreduced.
    """

    name: ClassVar[str] = "sdy-insert-explicit-reshards"
    anchor: ClassVar[str] = FUNCTION
    enable_full_version: bool = option(False, "Whether all ops are treated, not just some.")

    def run(self, module: IndexedModule) -> None:
        """Insert the reshards in place.

        Raises:
          Error: at an op with unreduced axes that do not go with it.

        """
        has_unreduced_axes = may_have_unreduced_axes(module)
        visits_all = self.enable_full_version or has_unreduced_axes
        if not visits_all and ALWAYS_RESHARDED.isdisjoint(module.names):
            return
        inserter = Inserter(
            module, is_full=self.enable_full_version, has_unreduced_axes=has_unreduced_axes
        )
        for name, op in _insides_first(module) if visits_all else module.in_order:
            if visits_all or name in ALWAYS_RESHARDED:
                inserter.visit(op, name)
        if inserter.has_changed:
            module.ops_changed()


def _insides_first(module: IndexedModule) -> Iterator[NamedOp]:
    """Yield ops in the order of the text, but functions and data-flow ops after what is in them.

    An op may be erased when the next one is asked for, if it is no terminator.
    """
    around: list[tuple[NamedOp, ir.Operation]] = []
    for entry in module.in_order:
        name, op = entry
        if name in _HOLDERS and len(op.regions) and len(op.regions[0].blocks):
            around.append((entry, region_terminator(op.regions[-1])))
            continue
        yield entry
        if is_terminator(name) and around and op == around[-1][1]:
            yield around.pop()[0]
