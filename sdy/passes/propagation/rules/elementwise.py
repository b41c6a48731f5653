"""Ops that compute each element of the result from the elements in the same place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.dialect.factor_type import NEED_REPLICATION
from sdy.ir.op_names import CONSTRAINT
from sdy.passes.propagation.rules.builder import RuleBuilder, pointwise_rule, rule_of_shape
from sdy.passes.propagation.rules.reading import ranks, shape
from sdy.passes.propagation.rules.registration import rule

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.dialect.sharding_rule import OpShardingRule

rule(
    CONSTRAINT,
    "stablehlo.abs",
    "stablehlo.add",
    "stablehlo.and",
    "stablehlo.atan2",
    "stablehlo.cbrt",
    "stablehlo.ceil",
    "stablehlo.compare",
    "stablehlo.complex",
    "stablehlo.convert",
    "stablehlo.cosine",
    "stablehlo.count_leading_zeros",
    "stablehlo.divide",
    "stablehlo.exponential",
    "stablehlo.exponential_minus_one",
    "stablehlo.floor",
    "stablehlo.imag",
    "stablehlo.is_finite",
    "stablehlo.log",
    "stablehlo.log_plus_one",
    "stablehlo.logistic",
    "stablehlo.maximum",
    "stablehlo.minimum",
    "stablehlo.multiply",
    "stablehlo.negate",
    "stablehlo.not",
    "stablehlo.or",
    "stablehlo.popcnt",
    "stablehlo.power",
    "stablehlo.real",
    "stablehlo.reduce_precision",
    "stablehlo.remainder",
    "stablehlo.round_nearest_afz",
    "stablehlo.round_nearest_even",
    "stablehlo.rsqrt",
    "stablehlo.shift_left",
    "stablehlo.shift_right_arithmetic",
    "stablehlo.shift_right_logical",
    "stablehlo.sign",
    "stablehlo.sine",
    "stablehlo.sqrt",
    "stablehlo.subtract",
    "stablehlo.tan",
    "stablehlo.tanh",
    "stablehlo.xor",
)(pointwise_rule)


@rule("stablehlo.select", "stablehlo.clamp")
def _select_or_clamp(op: ir.Operation) -> OpShardingRule:
    """Map all tensors alike but the predicate or the bounds where these are scalars."""
    result_shape = shape(op.results[0])
    return rule_of_shape(result_shape, ranks(op.operands), (len(result_shape),))


@rule("stablehlo.bitcast_convert")
def _bitcast_convert(op: ir.Operation) -> OpShardingRule:
    """Map like dimensions; the side of narrower elements may have one more, the innermost."""
    builder = RuleBuilder.of(op)
    operand, result = builder.operands[0], builder.results[0]
    if len(operand) < len(result):
        builder.pointwise(operand)
        builder.results_factor(len(operand), result[-1], NEED_REPLICATION)
    else:
        builder.pointwise(result)
    if len(operand) > len(result):
        builder.operands_factor(len(result), operand[-1], NEED_REPLICATION)
    return builder.build()
