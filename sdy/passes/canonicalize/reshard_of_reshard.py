"""A reshard of a reshard that nothing else uses: the outer one is enough."""

from __future__ import annotations

from jaxlib.mlir import ir

from sdy.ir.op_names import RESHARD
from sdy.passes.canonicalize.driver import Rewriter, pattern
from sdy.passes.canonicalize.labels import RESHARD_LABEL
from sdy.passes.canonicalize.operations import has_one_use, producer

__all__ = ["reshard_of_reshard"]


@pattern(RESHARD, benefit=2, label=RESHARD_LABEL)
def reshard_of_reshard(op: ir.Operation, rewriter: Rewriter) -> bool:
    """Skip the intermediate sharding."""
    inner = producer(op.operands[0], RESHARD)
    if inner is None or not has_one_use(inner.result):
        return False
    source = inner.operands[0]
    fused = rewriter.create(
        RESHARD,
        [source],
        {"sharding": op.attributes["sharding"]},
        source.type,
        at=ir.InsertionPoint(op),
        location=ir.Location.fused([op.location, inner.location]),
    )
    rewriter.replace(op, [fused])
    return True
