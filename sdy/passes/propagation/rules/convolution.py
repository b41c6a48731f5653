"""Convolution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir.dialects import stablehlo

from sdy.dialect.factor_type import PERMUTATION, REDUCTION
from sdy.passes.propagation.rules.builder import RuleBuilder
from sdy.passes.propagation.rules.reading import integer
from sdy.passes.propagation.rules.registration import conservative_rule

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.dialect.sharding_rule import OpShardingRule


@conservative_rule(
    "stablehlo.convolution",
    reads=("dimension_numbers", "batch_group_count", "feature_group_count"),
)
def _convolution(op: ir.Operation, conservative: bool) -> OpShardingRule:
    """Map batch, spatial and feature dimensions; groups are major where they divide one.

    The operands are the input and the kernel. Of the two group counts one is 1.
    """
    numbers = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    batch_groups = integer(op, "batch_group_count")
    feature_groups = integer(op, "feature_group_count")
    builder = RuleBuilder.of(op)
    kernel, result = builder.operands[1], builder.results[0]
    if batch_groups > 1:
        builder.factor(
            operands=[numbers.input_batch_dimension, numbers.kernel_output_feature_dimension],
            results=[numbers.output_feature_dimension],
            size=batch_groups,
        )
    builder.factor(
        operands=[numbers.input_batch_dimension, None],
        results=[numbers.output_batch_dimension],
        size=result[numbers.output_batch_dimension],
    )
    if not conservative:
        _add_spatial_factors(builder, numbers)
    if feature_groups > 1:
        builder.factor(
            operands=[numbers.input_feature_dimension, numbers.kernel_output_feature_dimension],
            results=[numbers.output_feature_dimension],
            size=feature_groups,
        )
    builder.factor(
        operands=[numbers.input_feature_dimension, numbers.kernel_input_feature_dimension],
        results=[None],
        size=kernel[numbers.kernel_input_feature_dimension],
        factor_type=REDUCTION,
    )
    group_size = result[numbers.output_feature_dimension] // (batch_groups * feature_groups)
    if group_size > 1:
        builder.factor(
            operands=[None, numbers.kernel_output_feature_dimension],
            results=[numbers.output_feature_dimension],
            size=group_size,
        )
    return builder.build()


def _add_spatial_factors(builder: RuleBuilder, numbers: stablehlo.ConvDimensionNumbers) -> None:
    """Add the factors of the spatial dimensions.

    Such a dimension of the input may be sharded along the windows, of which there are as many
    as the result has elements, or along the elements of a window, as many as the kernel has.
    The greater of the two numbers is the major factor.
    """
    (operand, kernel), (result,) = builder.operands, builder.results
    for input_dim, kernel_dim, result_dim in zip(
        numbers.input_spatial_dimensions,
        numbers.kernel_spatial_dimensions,
        numbers.output_spatial_dimensions,
        strict=True,
    ):
        rest = operand[input_dim]
        along_windows = (result[result_dim], None, result_dim, PERMUTATION)
        within_window = (kernel[kernel_dim], kernel_dim, None, REDUCTION)
        # The sort is stable: of two equal sizes the windows' comes first.
        for size, in_kernel, in_result, factor_type in sorted(
            (along_windows, within_window), key=lambda factor: -factor[0]
        ):
            factor_size = min(rest, size)
            if factor_size > 1:
                builder.factor(
                    operands=[input_dim, in_kernel],
                    results=[in_result],
                    size=factor_size,
                    factor_type=factor_type,
                )
                rest //= factor_size
