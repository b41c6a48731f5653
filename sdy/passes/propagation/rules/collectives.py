"""Collective ops of programs that are partitioned in part by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.dialect.factor_type import NEED_REPLICATION
from sdy.passes.propagation.rules.builder import RuleBuilder, pointwise_rule
from sdy.passes.propagation.rules.reading import integer
from sdy.passes.propagation.rules.registration import rule

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.dialect.sharding_rule import OpShardingRule

rule(
    "stablehlo.all_reduce",
    "stablehlo.collective_broadcast",
    "stablehlo.collective_permute",
    "stablehlo.cross-replica-sum",
)(pointwise_rule)


@rule("stablehlo.all_gather", reads=("all_gather_dim",))
def _all_gather(op: ir.Operation) -> OpShardingRule:
    return _rule_with_exchanged(op, [integer(op, "all_gather_dim")])


@rule("stablehlo.reduce_scatter", reads=("scatter_dimension",))
def _reduce_scatter(op: ir.Operation) -> OpShardingRule:
    return _rule_with_exchanged(op, [integer(op, "scatter_dimension")])


@rule("stablehlo.all_to_all", reads=("split_dimension", "concat_dimension"))
def _all_to_all(op: ir.Operation) -> OpShardingRule:
    split, concat = integer(op, "split_dimension"), integer(op, "concat_dimension")
    return _rule_with_exchanged(op, [split] if split == concat else [split, concat])


def _rule_with_exchanged(op: ir.Operation, exchanged: list[int]) -> OpShardingRule:
    """Return a rule with shared factors but for the dimensions that devices exchange parts of.

    Those are replicated, on either side by itself.
    """
    builder = RuleBuilder.of(op)
    operand, result = builder.operands[0], builder.results[0]
    for dim, size in enumerate(operand):
        if dim not in exchanged:
            builder.shared_factor(dim, size)
    for dim in exchanged:
        builder.operands_factor(dim, operand[dim], NEED_REPLICATION)
        builder.results_factor(dim, result[dim], NEED_REPLICATION)
    return builder.build()
