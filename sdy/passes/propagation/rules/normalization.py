"""Batch normalization."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.passes.propagation.rules.builder import RuleBuilder
from sdy.passes.propagation.rules.reading import integer
from sdy.passes.propagation.rules.registration import rule

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.dialect.sharding_rule import OpShardingRule


@rule("stablehlo.batch_norm_inference", reads=("feature_index",))
def _batch_norm_inference(op: ir.Operation) -> OpShardingRule:
    """Map the tensor in place; scale, offset, mean and variance go with its features."""
    feature_dim = integer(op, "feature_index")
    builder = RuleBuilder.of(op)
    for dim, size in enumerate(builder.operands[0]):
        statistics = [0 if dim == feature_dim else None] * 4
        builder.factor(operands=[dim, *statistics], results=[dim], size=size)
    return builder.build()
