"""Custom calls, by the name of what they call. Calls of other targets have no rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jaxlib.mlir import ir

from sdy.dialect.factor_type import NEED_REPLICATION
from sdy.passes.propagation.rules.builder import RuleBuilder, pointwise_rule
from sdy.passes.propagation.rules.registration import rule

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sdy.dialect.sharding_rule import OpShardingRule

__all__ = ["has_target_rule", "is_known_target"]

_LEFT_ALONE: Final = frozenset(
    {
        "sdy_testonly",
        "tpu_custom_call",
        "xla_ffi_python_cpu_callback",
        "xla_ffi_python_gpu_callback",
        "xla_python_cpu_callback",
        "xla_python_gpu_callback",
    }
)
"""Targets of which it is known that nothing can be said about their tensors."""

_POINTWISE: Final = frozenset(
    {
        "Cholesky",
        "CompactWyHelper",
        "InspectSharding",
        "InvertDiagBlocksLowerTriangular",
        "InvertDiagBlocksUpperTriangular",
        "LayoutConstraint",
        "MoveToDevice",
        "MoveToHost",
        "X64SplitHigh",
        "X64SplitLow",
        "_SPMDInternalOp_MultiPad",
        "_SPMDInternalOp_MultiRotate",
        "_SPMDInternalOp_MultiSlice",
        "_SPMDInternalOp_RotateRight",
        "_SPMDInternalOp_Wrap",
        "annotate_device_placement",
        "mhlo.erf",
        "xla.megascale.provide_metadata",
    }
)


def is_known_target(target: str) -> bool:
    """Return whether it is known how calls of `target` are sharded, if at all."""
    return target in _LEFT_ALONE or has_target_rule(target)


def has_target_rule(target: str) -> bool:
    """Return whether calls of `target` have a rule."""
    return target in _POINTWISE or target in _RULES


def _is_state_of_rng(op: ir.Operation) -> bool:
    """Return whether a call joins the halves of numbers that a generator has as its state."""
    return _target(op) == "X64Combine" and any(
        use.owner.operation.name == "stablehlo.rng_bit_generator"
        for result in op.results
        for use in result.uses
    )


@rule("stablehlo.custom_call", reads=("call_target_name",), beyond=_is_state_of_rng)
def _custom_call(op: ir.Operation) -> OpShardingRule | None:
    target = _target(op)
    if target in _POINTWISE:
        return pointwise_rule(op)
    build = _RULES.get(target)
    return build(op) if build else None


def _target(op: ir.Operation) -> str:
    return str(ir.StringAttr(op.attributes["call_target_name"]).value)


def _ranks(builder: RuleBuilder) -> tuple[list[int], list[int]]:
    return [len(each) for each in builder.operands], [len(each) for each in builder.results]


def _eigh(op: ir.Operation) -> OpShardingRule | None:
    """Map a matrix to its eigenvectors, as columns, and its eigenvalues."""
    builder = RuleBuilder.of(op)
    row_dim, column_dim = len(builder.operands[0]) - 2, len(builder.operands[0]) - 1
    if row_dim < 0 or _ranks(builder) != ([row_dim + 2], [row_dim + 2, row_dim + 1]):
        return None
    *batch, rows, columns = builder.operands[0]
    return (
        builder.pointwise(batch)
        .factor(operands=[row_dim], results=[row_dim, None], size=rows)
        .factor(operands=[column_dim], results=[column_dim, row_dim], size=columns)
        .build()
    )


def _qr(op: ir.Operation) -> OpShardingRule | None:
    """Map a matrix to Householder reflectors, in a matrix like it, and their factors."""
    builder = RuleBuilder.of(op)
    row_dim, column_dim = len(builder.operands[0]) - 2, len(builder.operands[0]) - 1
    if row_dim < 0 or _ranks(builder) != ([row_dim + 2], [row_dim + 2, row_dim + 1]):
        return None
    *batch, rows, columns = builder.operands[0]
    replicated = NEED_REPLICATION
    return (
        builder.pointwise(batch)
        .factor(operands=[row_dim], results=[row_dim, None], size=rows, factor_type=replicated)
        .factor(
            operands=[column_dim],
            results=[column_dim, None],
            size=columns,
            factor_type=replicated,
        )
        .factor(
            operands=[None],
            results=[None, row_dim],
            size=builder.results[1][-1],
            factor_type=replicated,
        )
        .build()
    )


def _householder_product(op: ir.Operation) -> OpShardingRule | None:
    """Map reflectors and their factors, as of `_qr`, to a matrix like the first."""
    builder = RuleBuilder.of(op)
    row_dim, column_dim = len(builder.operands[0]) - 2, len(builder.operands[0]) - 1
    if row_dim < 0 or _ranks(builder) != ([row_dim + 2, row_dim + 1], [row_dim + 2]):
        return None
    *batch, rows, columns = builder.operands[0]
    replicated = NEED_REPLICATION
    return (
        builder.pointwise(batch)
        .factor(operands=[row_dim, None], results=[row_dim], size=rows, factor_type=replicated)
        .factor(
            operands=[column_dim, None],
            results=[column_dim],
            size=columns,
            factor_type=replicated,
        )
        .factor(
            operands=[None, row_dim],
            results=[None],
            size=builder.operands[1][-1],
            factor_type=replicated,
        )
        .build()
    )


def _top_k(op: ir.Operation) -> OpShardingRule | None:
    """Map a tensor to the greatest elements along its last dimension, and their indices."""
    builder = RuleBuilder.of(op)
    operand, result = builder.operands[0], builder.results[0]
    if len(operand) != len(result):
        return None
    return builder.pointwise_or_resized(
        operand, result, NEED_REPLICATION, resized_blocked=True
    ).build()


def _approximate_top_k(op: ir.Operation) -> OpShardingRule | None:
    """Map a tensor, an iota and two scalars to start from to what `_top_k` has as results."""
    builder = RuleBuilder.of(op)
    operand_rank = len(builder.operands[0])
    if _ranks(builder) != ([operand_rank, operand_rank, 0, 0], [operand_rank, operand_rank]):
        return None
    sizes = zip(builder.operands[0], builder.results[0], strict=True)
    for dim, (size, result_size) in enumerate(sizes):
        if size == result_size:
            builder.shared_factor(dim, size)
            continue
        builder.factor(operands=[dim, dim, None, None], results=[None, None], size=size)
        builder.factor(
            operands=[None, None, None, None],
            results=[dim, dim],
            size=result_size,
            factor_type=NEED_REPLICATION,
            blocked=True,
        )
    return builder.build()


def _join_halves(op: ir.Operation) -> OpShardingRule | None:
    """Map high and low 32 bits to numbers; those that are a generator's state stay whole."""
    if not _is_state_of_rng(op):
        return pointwise_rule(op)
    builder = RuleBuilder.of(op)
    for dim, size in enumerate(builder.results[0]):
        builder.shared_factor(dim, size, NEED_REPLICATION, blocked=True)
    return builder.build()


_RULES: Final[Mapping[str, Callable[[ir.Operation], OpShardingRule | None]]] = {
    "ApproxTopK": _approximate_top_k,
    "Eigh": _eigh,
    "PartialReduce": _approximate_top_k,
    "ProductOfElementaryHouseholderReflectors": _householder_product,
    "Qr": _qr,
    "QrDecompositionBlock": _qr,
    "X64Combine": _join_halves,
    "mhlo.topk": _top_k,
}
