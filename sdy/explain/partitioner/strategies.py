"""How the partitioner splits the work of an op: a strategy for each kind of op.

A strategy chooses the axes of each factor; what has to be moved for that follows. Most ops are
split as their result is, a reduction as its operand is, a dot in groups of devices, and a
convolution such that the least is moved. The choices are those of the `Handle...` methods of XLA's
`spmd_partitioner.cc`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.dialect.sharding import DimensionSharding, TensorSharding
from sdy.explain.partitioner.convolutions import split_convolution
from sdy.explain.partitioner.dots import split_dot
from sdy.explain.partitioner.factor_axes import axes_of_result, axes_of_tensor
from sdy.explain.partitioner.gathers import split_gather
from sdy.explain.partitioner.op_case import (
    OpCase,
    OpExchange,
    carry_out,
    reshard_tensor,
)
from sdy.explain.partitioner.reshaping import split_reshape
from sdy.explain.partitioner.sorting import split_along_one_dimension
from sdy.explain.partitioner.tiling import tiling_of
from sdy.explain.partitioner.windows import split_reversal, split_window
from sdy.ir.op_traits import is_elementwise
from sdy.passes.propagation.rules.builder import rule_of_shape

if TYPE_CHECKING:
    from collections.abc import Callable

    from sdy.dialect.sharding_rule import OpShardingRule

__all__ = ["exchanges_of"]


def exchanges_of(case: OpCase) -> tuple[OpExchange, ...]:
    """Return the points of communication of an op, in the order in which they happen."""
    strategy = _STRATEGIES.get(case.name, _as_result)
    rule = case.rule or _elementwise_rule(case)
    if rule is None or strategy is _as_whole:
        return _as_whole(case)
    return strategy(case, rule)


def _elementwise_rule(case: OpCase) -> OpShardingRule | None:
    """Return the rule of an elementwise op that Shardy has none for; None for other ops.

    Those are the ops of CHLO, which XLA takes apart into others before it partitions them.
    """
    shapes = {tensor.shape for tensor in case.tensors}
    if not is_elementwise(case.name) or len(shapes) != 1:
        return None
    (shape,) = shapes
    ranks = (len(shape),)
    return rule_of_shape(shape, ranks * len(case.operands), ranks * len(case.results))


def _as_whole(case: OpCase, _rule: OpShardingRule | None = None) -> tuple[OpExchange, ...]:
    """Gather all operands on all devices but along batches; devices keep parts of the results."""
    found: list[OpExchange] = []
    for index, tensor in enumerate(case.operands):
        dimensions = [DimensionSharding()] * len(tensor.shape)
        for dim in case.detail.dims[: len(tensor.shape)]:
            dimensions[dim] = case.results[0].sharding.dimensions[dim]
        wanted = TensorSharding(tensor.sharding.mesh, tuple(dimensions))
        found += reshard_tensor("operand", index, tensor, tensor.sharding, wanted)
    return tuple(found)


def _as_result(case: OpCase, rule: OpShardingRule) -> tuple[OpExchange, ...]:
    """Split what the result has as it has it, and what is summed up as the operands have it.

    An elementwise op of several operands that are all split alike is split as they are.
    """
    operands = {tiling_of(tensor.sharding) for tensor in case.operands}
    if is_elementwise(case.name) and len(case.operands) > 1 and len(operands) == 1:
        return _as_operand(case, rule)
    return carry_out(case, rule, axes_of_result(case, rule))


def _as_operand(case: OpCase, rule: OpShardingRule) -> tuple[OpExchange, ...]:
    """Split everything as the first operand is."""
    axes = axes_of_tensor(case, rule, 0)
    return carry_out(case, rule, axes, by_dimension=True)


_STRATEGIES: dict[str, Callable[[OpCase, OpShardingRule], tuple[OpExchange, ...]]] = {
    "stablehlo.custom_call": _as_whole,
    "stablehlo.fft": _as_whole,
    "stablehlo.gather": split_gather,
    "stablehlo.scatter": split_gather,
    "stablehlo.reverse": split_reversal,
    "stablehlo.sort": split_along_one_dimension,
    "stablehlo.reduce": _as_operand,
    "stablehlo.dot": split_dot,
    "stablehlo.dot_general": split_dot,
    "stablehlo.convolution": split_convolution,
    "stablehlo.reshape": split_reshape,
    "stablehlo.concatenate": split_along_one_dimension,
    "stablehlo.slice": split_window,
    "stablehlo.pad": split_window,
    "stablehlo.reduce_window": split_window,
}
