"""Products of tensors: dot, dot_general."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir.dialects import stablehlo

from sdy.dialect.factor_type import REDUCTION
from sdy.passes.propagation.rules.builder import RuleBuilder
from sdy.passes.propagation.rules.registration import rule

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.dialect.sharding_rule import OpShardingRule


@rule("stablehlo.dot_general", reads=("dot_dimension_numbers",))
def _dot_general(op: ir.Operation) -> OpShardingRule:
    """Map the result's dimensions: batching ones, then the lhs's free ones, then the rhs's."""
    numbers = stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    lhs_batching: list[int] = numbers.lhs_batching_dimensions
    rhs_batching: list[int] = numbers.rhs_batching_dimensions
    lhs_contracting: list[int] = numbers.lhs_contracting_dimensions
    rhs_contracting: list[int] = numbers.rhs_contracting_dimensions
    builder = RuleBuilder.of(op)
    lhs, rhs = builder.operands
    result_dim = 0
    for index, dim in enumerate(lhs_batching):
        builder.factor(operands=[dim, rhs_batching[index]], results=[result_dim], size=lhs[dim])
        result_dim += 1
    for dim, size in enumerate(lhs):
        if dim not in lhs_contracting and dim not in lhs_batching:
            builder.factor(operands=[dim, None], results=[result_dim], size=size)
            result_dim += 1
    for dim, size in enumerate(rhs):
        if dim not in rhs_contracting and dim not in rhs_batching:
            builder.factor(operands=[None, dim], results=[result_dim], size=size)
            result_dim += 1
    for index, dim in enumerate(lhs_contracting):
        builder.factor(
            operands=[dim, rhs_contracting[index]],
            results=[None],
            size=lhs[dim],
            factor_type=REDUCTION,
        )
    return builder.build()


@rule("stablehlo.dot")
def _dot(op: ir.Operation) -> OpShardingRule:
    """Map a product of matrices and vectors."""
    builder = RuleBuilder.of(op)
    lhs, rhs = builder.operands
    if len(lhs) == 2:
        builder.factor(operands=[0, None], results=[0], size=lhs[0])
    if len(rhs) == 2:
        builder.factor(operands=[None, 1], results=[len(lhs) - 1], size=rhs[1])
    builder.factor(
        operands=[len(lhs) - 1, 0],
        results=[None],
        size=rhs[0],
        factor_type=REDUCTION,
    )
    return builder.build()
