"""Random numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.dialect.factor_type import NEED_REPLICATION
from sdy.passes.propagation.rules.builder import RuleBuilder
from sdy.passes.propagation.rules.registration import rule

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.dialect.sharding_rule import OpShardingRule


@rule("stablehlo.rng_bit_generator")
def _rng_bit_generator(op: ir.Operation) -> OpShardingRule:
    """Keep the state, before and after, whole; the numbers may be sharded in any way."""
    builder = RuleBuilder.of(op)
    for dim, size in enumerate(builder.operands[0]):
        builder.factor(
            operands=[dim],
            results=[dim, None],
            size=size,
            factor_type=NEED_REPLICATION,
            blocked=True,
        )
    for dim, size in enumerate(builder.results[1]):
        builder.factor(operands=[None], results=[None, dim], size=size)
    return builder.build()
