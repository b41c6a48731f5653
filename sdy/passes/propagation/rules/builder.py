"""A builder of sharding rules: one call for each factor, in the order that they are numbered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, TypeAlias

from jaxlib.mlir import ir

from sdy.dialect.sharding_rule import DimMapping, FactorType, OpShardingRule, TensorMapping
from sdy.passes.propagation.rules.reading import rank, shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["RuleBuilder", "identity_rule", "pointwise_rule"]

_Dimensions: TypeAlias = list[list[int]]
"""The factors of each dimension of one tensor."""


class RuleBuilder:
    """Adds factors to the dimensions of an op's tensors and builds the rule.

    A call reads like the op's definition. The rows of a matrix product are dimension 0 of the
    first operand and of the result, and in no dimension of the second operand:

        builder.factor(operands=[0, None], results=[0], size=8)

    A dimension that gets several factors has the first one as its major one. A dimension that
    gets none is given one of its own, of size 1, so that it is never sharded.
    """

    def __init__(self, operand_ranks: Iterable[int], result_ranks: Iterable[int]) -> None:
        self._operands: list[_Dimensions] = [[[] for _ in range(n)] for n in operand_ranks]
        self._results: list[_Dimensions] = [[[] for _ in range(n)] for n in result_ranks]
        self._sizes: list[int] = []
        self._factors: dict[FactorType, list[int]] = {each: [] for each in FactorType}
        self._blocked: list[int] = []

    @classmethod
    def of(cls, op: ir.Operation) -> Self:
        """Return a builder for the operands and results of `op`; what is no tensor has rank 0."""
        return cls(map(rank, op.operands), map(rank, op.results))

    def factor(
        self,
        *,
        operands: Sequence[int | None],
        results: Sequence[int | None],
        size: int,
        factor_type: FactorType = FactorType.PASS_THROUGH,
        blocked: bool = False,
    ) -> Self:
        """Add a factor to one dimension of each operand and result; None: not of this one.

        A factor of size 1 is left out of a dimension that has a factor already. Shardings do
        not spread along a factor that is `blocked`.
        """
        index = self._new_factor(size, factor_type, blocked=blocked)
        tensors = self._operands + self._results
        for tensor, dimension in zip(tensors, [*operands, *results], strict=True):
            if dimension is not None and not (size == 1 and tensor[dimension]):
                tensor[dimension].append(index)
        return self

    def shared_factor(
        self,
        dimension: int,
        size: int,
        factor_type: FactorType = FactorType.PASS_THROUGH,
        *,
        blocked: bool = False,
    ) -> Self:
        """Add a factor to the same dimension of all operands and results that have it."""
        index = self._new_factor(size, factor_type, blocked=blocked)
        _append(self._operands + self._results, dimension, index)
        return self

    def operands_factor(self, dimension: int, size: int, factor_type: FactorType) -> Self:
        """Add a factor to the same dimension of all operands that have it."""
        _append(self._operands, dimension, self._new_factor(size, factor_type, blocked=False))
        return self

    def results_factor(self, dimension: int, size: int, factor_type: FactorType) -> Self:
        """Add a factor to the same dimension of all results that have it."""
        _append(self._results, dimension, self._new_factor(size, factor_type, blocked=False))
        return self

    def pointwise(self, shape: Iterable[int]) -> Self:
        """Add a shared factor for each of the first dimensions, of the sizes in `shape`."""
        for dimension, size in enumerate(shape):
            self.shared_factor(dimension, size)
        return self

    def pointwise_or_resized(
        self,
        operand_shape: Sequence[int],
        result_shape: Sequence[int],
        resized: FactorType,
        *,
        resized_blocked: bool,
    ) -> Self:
        """Add a shared factor for each dimension; where the op changes its size, a `resized` one.

        The factor of a resized dimension has the size that the operand has.
        """
        sizes = zip(operand_shape, result_shape, strict=True)
        for dimension, (size, result_size) in enumerate(sizes):
            if size == result_size:
                self.shared_factor(dimension, size)
            else:
                self.shared_factor(dimension, size, resized, blocked=resized_blocked)
        return self

    def build(self) -> OpShardingRule:
        """Return the rule of the factors so far."""
        sizes = list(self._sizes)
        return OpShardingRule(
            operands=tuple(_mapping(tensor, sizes) for tensor in self._operands),
            results=tuple(_mapping(tensor, sizes) for tensor in self._results),
            factor_sizes=tuple(sizes),
            reduction=tuple(self._factors[FactorType.REDUCTION]),
            need_replication=tuple(self._factors[FactorType.NEED_REPLICATION]),
            permutation=tuple(self._factors[FactorType.PERMUTATION]),
            blocked_propagation=tuple(self._blocked),
        )

    def _new_factor(self, size: int, factor_type: FactorType, *, blocked: bool) -> int:
        index = len(self._sizes)
        self._sizes.append(size)
        self._factors[factor_type].append(index)
        if blocked:
            self._blocked.append(index)
        return index


def _append(tensors: Iterable[_Dimensions], dimension: int, factor: int) -> None:
    for tensor in tensors:
        if dimension < len(tensor):
            tensor[dimension].append(factor)


def _mapping(tensor: _Dimensions, sizes: list[int]) -> TensorMapping:
    """Return the mapping of a tensor; appends to `sizes` a 1 for each dimension without factor."""
    dimensions = []
    for factors in tensor:
        if factors:
            dimensions.append(DimMapping(tuple(factors)))
        else:
            dimensions.append(DimMapping((len(sizes),)))
            sizes.append(1)
    return TensorMapping(tuple(dimensions))


def pointwise_rule(op: ir.Operation) -> OpShardingRule | None:
    """Return the rule of an op whose tensors all have the shape of its first result.

    None where that is no tensor, as with tokens, or where another tensor has more dimensions.
    """
    if not op.results or not isinstance(op.results[0].type, ir.ShapedType):
        return None
    result_shape = shape(op.results[0])
    if any(rank(value) > len(result_shape) for value in [*op.operands, *op.results]):
        return None
    return RuleBuilder.of(op).pointwise(result_shape).build()


def identity_rule(
    tensor_shape: Sequence[int], operand_count: int = 1, result_count: int = 1
) -> OpShardingRule:
    """Return the rule under which all tensors, of one shape, are sharded alike.

    It is that of data-flow edges, propagation barriers and what is returned from a function.
    """
    tensor_rank = len(tensor_shape)
    builder = RuleBuilder([tensor_rank] * operand_count, [tensor_rank] * result_count)
    return builder.pointwise(tensor_shape).build()
