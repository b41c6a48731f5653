"""A builder of sharding rules: one call for each factor, in the order that they are numbered."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, Self, TypeAlias

from jaxlib.mlir import ir

from sdy.dialect.sharding_rule import DimMapping, FactorType, OpShardingRule, TensorMapping
from sdy.passes.propagation.rules.reading import rank, shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["RuleBuilder", "identity_rule", "pointwise_rule", "rule_of_shape"]

_Dimensions: TypeAlias = list[tuple[int, ...]]
"""The factors of each dimension of one tensor."""

# Kept, because a member of an enum is slow to look up.
_PASS_THROUGH: Final = FactorType.PASS_THROUGH

# Rules resemble each other: a program has few shapes, and fewer mappings. What is kept are plain
# values, with nothing of a module in them.
_MOST_KEPT: Final = 1024


class RuleBuilder:
    """Adds factors to the dimensions of an op's tensors and builds the rule.

    A call reads like the op's definition. The rows of a matrix product are dimension 0 of the
    first operand and of the result, and in no dimension of the second operand:

        builder.factor(operands=[0, None], results=[0], size=8)

    A dimension that gets several factors has the first one as its major one. A dimension that
    gets none is given one of its own, of size 1, so that it is never sharded.
    """

    def __init__(self, operand_ranks: Iterable[int], result_ranks: Iterable[int]) -> None:
        operands: list[_Dimensions] = [[()] * n for n in operand_ranks]
        self._operand_count = len(operands)
        self._tensors = operands + [[()] * n for n in result_ranks]
        self._sizes: list[int] = []
        self._special: list[tuple[int, FactorType]] = []
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
        factor_type: FactorType = _PASS_THROUGH,
        blocked: bool = False,
    ) -> Self:
        """Add a factor to one dimension of each operand and result; None: not of this one.

        A factor of size 1 is left out of a dimension that has a factor already. Shardings do
        not spread along a factor that is `blocked`.
        """
        index = self._new_factor(size, factor_type, blocked=blocked)
        for tensor, dimension in zip(self._tensors, (*operands, *results), strict=True):
            if dimension is not None and not (size == 1 and tensor[dimension]):
                tensor[dimension] += (index,)
        return self

    def shared_factor(
        self,
        dimension: int,
        size: int,
        factor_type: FactorType = _PASS_THROUGH,
        *,
        blocked: bool = False,
    ) -> Self:
        """Add a factor to the same dimension of all operands and results that have it."""
        index = self._new_factor(size, factor_type, blocked=blocked)
        _append(self._tensors, dimension, index)
        return self

    def operands_factor(self, dimension: int, size: int, factor_type: FactorType) -> Self:
        """Add a factor to the same dimension of all operands that have it."""
        index = self._new_factor(size, factor_type, blocked=False)
        _append(self._tensors[: self._operand_count], dimension, index)
        return self

    def results_factor(self, dimension: int, size: int, factor_type: FactorType) -> Self:
        """Add a factor to the same dimension of all results that have it."""
        index = self._new_factor(size, factor_type, blocked=False)
        _append(self._tensors[self._operand_count :], dimension, index)
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
        mappings = tuple([_mapping(tensor, sizes) for tensor in self._tensors])
        return OpShardingRule(
            operands=mappings[: self._operand_count],
            results=mappings[self._operand_count :],
            factor_sizes=tuple(sizes),
            reduction=self._of_type(FactorType.REDUCTION),
            need_replication=self._of_type(FactorType.NEED_REPLICATION),
            permutation=self._of_type(FactorType.PERMUTATION),
            blocked_propagation=tuple(self._blocked),
        )

    def _of_type(self, factor_type: FactorType) -> tuple[int, ...]:
        return tuple([index for index, of_type in self._special if of_type is factor_type])

    def _new_factor(self, size: int, factor_type: FactorType, *, blocked: bool) -> int:
        index = len(self._sizes)
        self._sizes.append(size)
        if factor_type is not _PASS_THROUGH:
            self._special.append((index, factor_type))
        if blocked:
            self._blocked.append(index)
        return index


def _append(tensors: Iterable[_Dimensions], dimension: int, factor: int) -> None:
    for tensor in tensors:
        if dimension < len(tensor):
            tensor[dimension] += (factor,)


def _mapping(tensor: _Dimensions, sizes: list[int]) -> TensorMapping:
    """Return the mapping of a tensor; appends to `sizes` a 1 for each dimension without factor."""
    if () in tensor:
        tensor = list(tensor)
        for dimension, factors in enumerate(tensor):
            if not factors:
                tensor[dimension] = (len(sizes),)
                sizes.append(1)
    return _kept_mapping(tuple(tensor))


@lru_cache(_MOST_KEPT)
def _kept_mapping(dimensions: tuple[tuple[int, ...], ...]) -> TensorMapping:
    return TensorMapping(tuple(map(DimMapping, dimensions)))


def pointwise_rule(op: ir.Operation) -> OpShardingRule | None:
    """Return the rule of an op whose tensors all have the shape of its first result.

    None where that is no tensor, as with tokens, or where another tensor has more dimensions.
    """
    results = list(op.results)
    if not results or not isinstance(results[0].type, ir.ShapedType):
        return None
    result_shape = shape(results[0])
    operand_ranks, result_ranks = tuple(map(rank, op.operands)), tuple(map(rank, results))
    if max(operand_ranks + result_ranks) > len(result_shape):
        return None
    return rule_of_shape(result_shape, operand_ranks, result_ranks)


def identity_rule(
    tensor_shape: Sequence[int], operand_count: int = 1, result_count: int = 1
) -> OpShardingRule:
    """Return the rule under which all tensors, of one shape, are sharded alike.

    It is that of data-flow edges, propagation barriers and what is returned from a function.
    """
    ranks = (len(tensor_shape),)
    return rule_of_shape(tuple(tensor_shape), ranks * operand_count, ranks * result_count)


@lru_cache(_MOST_KEPT)
def rule_of_shape(
    tensor_shape: tuple[int, ...], operand_ranks: tuple[int, ...], result_ranks: tuple[int, ...]
) -> OpShardingRule:
    """Return the rule of tensors that have the first dimensions of one shape."""
    return RuleBuilder(operand_ranks, result_ranks).pointwise(tensor_shape).build()
