"""Reductions of whole dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.dialect.factor_type import REDUCTION
from sdy.passes.propagation.rules.builder import RuleBuilder
from sdy.passes.propagation.rules.reading import integers
from sdy.passes.propagation.rules.registration import rule

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.dialect.sharding_rule import OpShardingRule


@rule("stablehlo.reduce", reads=("dimensions",))
def _reduce(op: ir.Operation) -> OpShardingRule:
    """Map inputs of one shape, then as many scalars to start from."""
    reduced = integers(op, "dimensions") or ()
    builder = RuleBuilder.of(op)
    inputs = len(builder.results)
    result_dim = 0
    for dim, size in enumerate(builder.operands[0]):
        operands = [dim] * inputs + [None] * inputs
        if dim in reduced:
            builder.factor(
                operands=operands,
                results=[None] * inputs,
                size=size,
                factor_type=REDUCTION,
            )
        else:
            builder.factor(operands=operands, results=[result_dim] * inputs, size=size)
            result_dim += 1
    return builder.build()
