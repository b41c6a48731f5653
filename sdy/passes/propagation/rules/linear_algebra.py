"""Decompositions and solvers on the last two dimensions, and Fourier transforms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.dialect.factor_type import NEED_REPLICATION
from sdy.passes.propagation.rules.builder import RuleBuilder
from sdy.passes.propagation.rules.reading import integers
from sdy.passes.propagation.rules.registration import rule

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.dialect.sharding_rule import OpShardingRule


@rule("stablehlo.cholesky")
def _cholesky(op: ir.Operation) -> OpShardingRule:
    builder = RuleBuilder.of(op)
    *batch, rows, columns = builder.operands[0]
    return (
        builder.pointwise(batch)
        .shared_factor(len(batch), rows, NEED_REPLICATION)
        .shared_factor(len(batch) + 1, columns, NEED_REPLICATION)
        .build()
    )


@rule("stablehlo.triangular_solve", reads=("left_side", "transpose_a"))
def _triangular_solve(op: ir.Operation) -> OpShardingRule:
    """Map `op(a) @ x = b`, or `x @ op(a) = b` if not left_side, where `op` may transpose."""
    builder = RuleBuilder.of(op)
    matrix, rhs = builder.operands
    rows, columns = len(matrix) - 2, len(matrix) - 1
    is_left = bool(op.attributes["left_side"].value)
    contracted, kept = (columns, rows) if is_left != _transposes(op) else (rows, columns)
    # The dimension of x and b that the matrix acts on, and the other one.
    acted_on, free = (rows, columns) if is_left else (columns, rows)
    factors: list[tuple[list[int | None], list[int | None], int]] = [
        ([kept, acted_on], [None], matrix[kept]),
        ([None, free], [free], rhs[free]),
    ]
    if not is_left:
        factors.reverse()
    factors.append(([contracted, None], [acted_on], matrix[contracted]))
    builder.pointwise(matrix[:-2])
    for operands, results, size in factors:
        builder.factor(
            operands=operands,
            results=results,
            size=size,
            factor_type=NEED_REPLICATION,
        )
    return builder.build()


def _transposes(op: ir.Operation) -> bool:
    name = str(op.attributes["transpose_a"])
    return "NO_TRANSPOSE" not in name and ("TRANSPOSE>" in name or "ADJOINT" in name)


@rule("stablehlo.fft", reads=("fft_length",))
def _fft(op: ir.Operation) -> OpShardingRule:
    """Map dimensions in place; the last ones are transformed, and one may change its size."""
    builder = RuleBuilder.of(op)
    operand, result = builder.operands[0], builder.results[0]
    batch_rank = len(operand) - len(integers(op, "fft_length") or ())
    builder.pointwise(operand[:batch_rank])
    for dim in range(batch_rank, len(operand)):
        builder.shared_factor(
            dim,
            operand[dim],
            NEED_REPLICATION,
            blocked=operand[dim] != result[dim],
        )
    return builder.build()
