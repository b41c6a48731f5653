"""Two all-to-alls in a row on different dimensions: one does both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.ir.axis_lists import params_attribute, read_params
from sdy.ir.op_names import ALL_TO_ALL
from sdy.passes.canonicalize.driver import Rewriter, pattern
from sdy.passes.canonicalize.labels import COLLECTIVE_LABEL
from sdy.passes.canonicalize.operations import has_one_use, producer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sdy.ir.axis_lists import AllToAllParam

__all__ = ["all_to_all_fusion"]


@pattern(ALL_TO_ALL, benefit=2, label=COLLECTIVE_LABEL)
def all_to_all_fusion(op: ir.Operation, rewriter: Rewriter) -> bool:
    """Move the axes of both at once, in the order of the dimensions that they leave."""
    inner = producer(op.operands[0], ALL_TO_ALL)
    if inner is None or not has_one_use(inner.result):
        return False
    params = [*read_params(inner.attributes["params"]), *read_params(op.attributes["params"])]
    if not _on_distinct_dimensions(params):
        return False
    fused = rewriter.create(
        ALL_TO_ALL,
        [inner.operands[0]],
        {
            "params": params_attribute(sorted(params, key=lambda p: p.source), rewriter.context),
            "out_sharding": op.attributes["out_sharding"],
        },
        op.result.type,
        at=ir.InsertionPoint(op),
        location=ir.Location.fused([op.location, inner.location]),
    )
    rewriter.replace(op, [fused])
    return True


def _on_distinct_dimensions(params: Iterable[AllToAllParam]) -> bool:
    dimensions = [dimension for p in params for dimension in (p.source, p.target)]
    return len(set(dimensions)) == len(dimensions)
