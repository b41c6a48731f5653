"""Ops that cut, pad and join tensors along dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.factor_type import NEED_REPLICATION, PASS_THROUGH, PERMUTATION
from sdy.ir.op_traits import CONSTANT_LIKE
from sdy.passes.propagation.rules.builder import RuleBuilder
from sdy.passes.propagation.rules.reading import integer
from sdy.passes.propagation.rules.registration import conservative_rule, rule

if TYPE_CHECKING:
    from sdy.dialect.sharding_rule import OpShardingRule


@conservative_rule("stablehlo.slice", "stablehlo.pad")
def _slice_or_pad(op: ir.Operation, conservative: bool) -> OpShardingRule:
    """Map dimensions in place; where to cut or pad is known, so data moves to neighbours."""
    builder = RuleBuilder.of(op)
    return builder.pointwise_or_resized(
        builder.operands[0],
        builder.results[0],
        PERMUTATION,
        resized_blocked=conservative,
    ).build()


@rule("stablehlo.dynamic_slice")
def _dynamic_slice(op: ir.Operation) -> OpShardingRule:
    """Map dimensions in place; where to cut is not known, so all of a cut one must be there."""
    builder = RuleBuilder.of(op)
    return builder.pointwise_or_resized(
        builder.operands[0],
        builder.results[0],
        NEED_REPLICATION,
        resized_blocked=True,
    ).build()


def _has_constant_indices(op: ir.Operation) -> bool:
    """Return whether all start indices of a dynamic_update_slice are constants."""
    return all(_producer_name(index) in CONSTANT_LIKE for index in list(op.operands)[2:])


@rule("stablehlo.dynamic_update_slice", beyond=_has_constant_indices)
def _dynamic_update_slice(op: ir.Operation) -> OpShardingRule:
    """Map the tensor, the update, and a scalar index for each dimension.

    Each device can write its part of the update to its part of the tensor, so a dimension that
    the update does not fill may be sharded in the tensor. In the update it is replicated,
    unless the indices are known.
    """
    update_type = PASS_THROUGH if _has_constant_indices(op) else NEED_REPLICATION
    builder = RuleBuilder.of(op)
    operand, update, *indices = builder.operands
    no_index: list[None] = [None] * len(indices)
    for dim, (size, update_size) in enumerate(zip(operand, update, strict=True)):
        if size == update_size:
            builder.shared_factor(dim, size)
            continue
        builder.factor(operands=[dim, None, *no_index], results=[dim], size=size)
        builder.factor(
            operands=[None, dim, *no_index],
            results=[None],
            size=update_size,
            factor_type=update_type,
        )
    return builder.build()


def _joins_slices(op: ir.Operation) -> bool:
    """Return whether a concatenate joins slices only, or one tensor and slices of it."""
    is_slice = [_producer_name(value) == "stablehlo.slice" for value in op.operands]
    if all(is_slice):
        return True
    if not any(is_slice):
        return False
    sources = [
        value.owner.operation.operands[0] if sliced else value
        for value, sliced in zip(op.operands, is_slice, strict=True)
    ]
    return all(source == sources[0] for source in sources)


@conservative_rule("stablehlo.concatenate", reads=("dimension",), beyond=_joins_slices)
def _concatenate(op: ir.Operation, conservative: bool) -> OpShardingRule:
    """Map dimensions in place; joining slices, as a rotation does, moves data to neighbours."""
    dimension = integer(op, "dimension")
    joined_type = PERMUTATION if _joins_slices(op) else NEED_REPLICATION
    builder = RuleBuilder.of(op)
    for dim, size in enumerate(builder.results[0]):
        if dim != dimension:
            builder.shared_factor(dim, size)
        elif not conservative:
            builder.shared_factor(dim, size, joined_type)
    return builder.build()


def _producer_name(value: ir.Value) -> str | None:
    """Return the name of the op that `value` is a result of; None for a block argument."""
    return str(value.owner.operation.name) if isinstance(value, ir.OpResult) else None
