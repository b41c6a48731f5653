"""Ops that only place elements elsewhere: broadcast_in_dim, transpose, reverse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.dialect.factor_type import PASS_THROUGH, PERMUTATION
from sdy.passes.propagation.rules.builder import RuleBuilder
from sdy.passes.propagation.rules.reading import integers
from sdy.passes.propagation.rules.registration import rule

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.dialect.sharding_rule import OpShardingRule


@rule("stablehlo.broadcast_in_dim", reads=("broadcast_dimensions",))
def _broadcast_in_dim(op: ir.Operation) -> OpShardingRule:
    """Map dimensions as the op says, but for those of size 1 that are expanded in place."""
    builder = RuleBuilder.of(op)
    operand, result = builder.operands[0], builder.results[0]
    operand_dim_of = {
        result_dim: dim for dim, result_dim in enumerate(integers(op, "broadcast_dimensions") or ())
    }
    for result_dim, size in enumerate(result):
        dim = operand_dim_of.get(result_dim)
        if dim is not None and operand[dim] == 1 and size != 1:
            builder.factor(operands=[dim], results=[None], size=1)
            dim = None
        builder.factor(operands=[dim], results=[result_dim], size=size)
    return builder.build()


@rule("stablehlo.transpose", reads=("permutation",))
def _transpose(op: ir.Operation) -> OpShardingRule:
    builder = RuleBuilder.of(op)
    operand = builder.operands[0]
    for result_dim, dim in enumerate(integers(op, "permutation") or ()):
        builder.factor(operands=[dim], results=[result_dim], size=operand[dim])
    return builder.build()


@rule("stablehlo.reverse", reads=("dimensions",))
def _reverse(op: ir.Operation) -> OpShardingRule:
    reversed_dims = integers(op, "dimensions") or ()
    builder = RuleBuilder.of(op)
    for dim, size in enumerate(builder.results[0]):
        is_reversed = dim in reversed_dims
        factor_type = PERMUTATION if is_reversed else PASS_THROUGH
        builder.shared_factor(dim, size, factor_type)
    return builder.build()
