"""Ops that slide a window over a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.dialect.factor_type import NEED_REPLICATION, PERMUTATION
from sdy.passes.propagation.rules.builder import RuleBuilder
from sdy.passes.propagation.rules.reading import integers
from sdy.passes.propagation.rules.registration import conservative_rule

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.dialect.sharding_rule import OpShardingRule

_WINDOW = ("window_dimensions", "window_strides", "padding")


@conservative_rule("stablehlo.reduce_window", reads=_WINDOW)
def _reduce_window(op: ir.Operation, conservative: bool) -> OpShardingRule:
    """Map dimensions in place; the result has as many elements as there are windows."""
    builder = RuleBuilder.of(op)
    for dim, size in enumerate(builder.results[0]):
        if _is_element_for_element(op, dim):
            builder.shared_factor(dim, size)
        else:
            builder.shared_factor(dim, size, PERMUTATION, blocked=conservative)
    return builder.build()


@conservative_rule("stablehlo.select_and_scatter", reads=_WINDOW)
def _select_and_scatter(op: ir.Operation, conservative: bool) -> OpShardingRule:
    """Map the input, shaped like the result, and the source, with one element a window."""
    builder = RuleBuilder.of(op)
    source, result = builder.operands[1], builder.results[0]
    for dim, size in enumerate(result):
        if _is_element_for_element(op, dim):
            builder.shared_factor(dim, size)
            continue
        builder.factor(
            operands=[None, dim, None],
            results=[None],
            size=source[dim],
            factor_type=NEED_REPLICATION,
            blocked=conservative,
        )
        builder.factor(
            operands=[dim, None, None],
            results=[dim],
            size=size,
            factor_type=PERMUTATION,
            blocked=conservative,
        )
    return builder.build()


def _is_element_for_element(op: ir.Operation, dim: int) -> bool:
    """Return whether each window along `dim` is one element, and each element one window."""
    sizes, strides = integers(op, "window_dimensions"), integers(op, "window_strides")
    # The padding is two numbers a dimension: before and after it.
    padding = integers(op, "padding")
    return (
        (not sizes or sizes[dim] == 1)
        and (not strides or strides[dim] == 1)
        and (not padding or padding[2 * dim : 2 * dim + 2] == (0, 0))
    )
