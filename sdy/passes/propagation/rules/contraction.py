"""Products of tensors: dot, dot_general."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir.dialects import stablehlo

from sdy.dialect.sharding_rule import FactorType
from sdy.passes.propagation.rules.builder import RuleBuilder
from sdy.passes.propagation.rules.reading import shape
from sdy.passes.propagation.rules.registration import rule

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.dialect.sharding_rule import OpShardingRule


@rule("stablehlo.dot_general", reads=("dot_dimension_numbers",))
def _dot_general(op: ir.Operation) -> OpShardingRule:
    """Map the result's dimensions: batching ones, then the lhs's free ones, then the rhs's."""
    numbers = stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    lhs_batching, rhs_batching = numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions
    lhs_contracting = numbers.lhs_contracting_dimensions
    rhs_contracting = numbers.rhs_contracting_dimensions
    lhs, rhs = shape(op.operands[0]), shape(op.operands[1])
    builder = RuleBuilder.of(op)
    result_dim = 0
    for lhs_dim, rhs_dim in zip(lhs_batching, rhs_batching, strict=True):
        builder.factor(operands=[lhs_dim, rhs_dim], results=[result_dim], size=lhs[lhs_dim])
        result_dim += 1
    for dim, size in enumerate(lhs):
        if dim not in lhs_contracting and dim not in lhs_batching:
            builder.factor(operands=[dim, None], results=[result_dim], size=size)
            result_dim += 1
    for dim, size in enumerate(rhs):
        if dim not in rhs_contracting and dim not in rhs_batching:
            builder.factor(operands=[None, dim], results=[result_dim], size=size)
            result_dim += 1
    for lhs_dim, rhs_dim in zip(lhs_contracting, rhs_contracting, strict=True):
        builder.factor(
            operands=[lhs_dim, rhs_dim],
            results=[None],
            size=lhs[lhs_dim],
            factor_type=FactorType.REDUCTION,
        )
    return builder.build()


@rule("stablehlo.dot")
def _dot(op: ir.Operation) -> OpShardingRule:
    """Map a product of matrices and vectors."""
    lhs, rhs = shape(op.operands[0]), shape(op.operands[1])
    builder = RuleBuilder.of(op)
    if len(lhs) == 2:
        builder.factor(operands=[0, None], results=[0], size=lhs[0])
    if len(rhs) == 2:
        builder.factor(operands=[None, 1], results=[len(lhs) - 1], size=rhs[1])
    builder.factor(
        operands=[len(lhs) - 1, 0],
        results=[None],
        size=rhs[0],
        factor_type=FactorType.REDUCTION,
    )
    return builder.build()
