"""A builder of sharding rules: one call for each factor, in the order that they are numbered."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias, final

from jaxlib.mlir import ir
from mypy_extensions import mypyc_attr

from sdy.dialect.factor_type import (
    NEED_REPLICATION,
    PASS_THROUGH,
    PERMUTATION,
    REDUCTION,
    FactorType,
)
from sdy.dialect.sharding_rule import DimMapping, OpShardingRule, TensorMapping
from sdy.passes.propagation.rules.reading import Shape, ranks, shape_of_type, shapes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["RuleBuilder", "identity_rule", "pointwise_rule", "rule_of_shape"]

_Dimensions: TypeAlias = list[tuple[int, ...]]
"""The factors of each dimension of one tensor."""

# Rules resemble each other: a program has few shapes, and fewer mappings. What is kept are plain
# values, with nothing of a module in them.
_MOST_KEPT: Final = 1024


@final
@mypyc_attr(acyclic=True)
class RuleBuilder:
    """Adds factors to the dimensions of an op's tensors and builds the rule.

    A call reads like the op's definition. The rows of a matrix product are dimension 0 of the
    first operand and of the result, and in no dimension of the second operand:

        builder.factor(operands=[0, None], results=[0], size=8)

    A dimension that gets several factors has the first one as its major one. A dimension that
    gets none is given one of its own, of size 1, so that it is never sharded.

    Attributes:
      operands: the shapes of the operands, where the builder is `of` an op.
      results: the shapes of the results, likewise.

    """

    def __init__(self, operand_ranks: Iterable[int], result_ranks: Iterable[int]) -> None:
        tensors: list[_Dimensions] = [[()] * n for n in operand_ranks]
        self._operand_count = len(tensors)
        tensors += [[()] * n for n in result_ranks]
        self._tensors = tensors
        self._sizes: list[int] = []
        self._reduction: tuple[int, ...] = ()
        self._need_replication: tuple[int, ...] = ()
        self._permutation: tuple[int, ...] = ()
        self._blocked: tuple[int, ...] = ()
        self.operands: list[Shape] = []
        self.results: list[Shape] = []

    @staticmethod
    def of(op: ir.Operation) -> RuleBuilder:
        """Return a builder for the operands and results of `op`; what is no tensor has rank 0."""
        operands, results = shapes(op.operands), shapes(op.results)
        builder = RuleBuilder([len(each) for each in operands], [len(each) for each in results])
        builder.operands, builder.results = operands, results
        return builder

    def factor(
        self,
        *,
        operands: list[int | None],
        results: list[int | None],
        size: int,
        factor_type: FactorType = PASS_THROUGH,
        blocked: bool = False,
    ) -> RuleBuilder:
        """Add a factor to one dimension of each operand and result; None: not of this one.

        A factor of size 1 is left out of a dimension that has a factor already. Shardings do
        not spread along a factor that is `blocked`.
        """
        count = self._operand_count
        if len(operands) != count or len(results) != len(self._tensors) - count:
            raise ValueError("a factor has an entry for each operand and each result")
        index = self._new_factor(size, factor_type, blocked=blocked)
        self._add(index, size, 0, operands)
        self._add(index, size, count, results)
        return self

    def _add(self, factor: int, size: int, first: int, dimensions: list[int | None]) -> None:
        """Add a factor to a dimension each of the tensors from the `first` on."""
        for position, dimension in enumerate(dimensions):
            if dimension is not None:
                tensor = self._tensors[first + position]
                own = tensor[dimension]
                if not own:
                    tensor[dimension] = (factor,)
                elif size != 1:
                    tensor[dimension] = (*own, factor)

    def shared_factor(
        self,
        dimension: int,
        size: int,
        factor_type: FactorType = PASS_THROUGH,
        *,
        blocked: bool = False,
    ) -> RuleBuilder:
        """Add a factor to the same dimension of all operands and results that have it."""
        index = self._new_factor(size, factor_type, blocked=blocked)
        _append(self._tensors, dimension, index)
        return self

    def operands_factor(self, dimension: int, size: int, factor_type: FactorType) -> RuleBuilder:
        """Add a factor to the same dimension of all operands that have it."""
        index = self._new_factor(size, factor_type, blocked=False)
        _append(self._tensors[: self._operand_count], dimension, index)
        return self

    def results_factor(self, dimension: int, size: int, factor_type: FactorType) -> RuleBuilder:
        """Add a factor to the same dimension of all results that have it."""
        index = self._new_factor(size, factor_type, blocked=False)
        _append(self._tensors[self._operand_count :], dimension, index)
        return self

    def pointwise(self, shape: Iterable[int]) -> RuleBuilder:
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
    ) -> RuleBuilder:
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
        sizes = self._sizes.copy()
        mappings = tuple([_mapping(tensor, sizes) for tensor in self._tensors])
        count = self._operand_count
        return OpShardingRule(
            tuple(sizes),
            mappings[:count],
            mappings[count:],
            self._reduction,
            self._need_replication,
            self._permutation,
            self._blocked,
        )

    def _new_factor(self, size: int, factor_type: FactorType, *, blocked: bool) -> int:
        index = len(self._sizes)
        self._sizes.append(size)
        if factor_type is REDUCTION:
            self._reduction += (index,)
        elif factor_type is NEED_REPLICATION:
            self._need_replication += (index,)
        elif factor_type is PERMUTATION:
            self._permutation += (index,)
        if blocked:
            self._blocked += (index,)
        return index


def _append(tensors: list[_Dimensions], dimension: int, factor: int) -> None:
    for tensor in tensors:
        if dimension < len(tensor):
            own = tensor[dimension]
            tensor[dimension] = (*own, factor) if own else (factor,)


def _mapping(tensor: _Dimensions, sizes: list[int]) -> TensorMapping:
    """Return the mapping of a tensor; appends to `sizes` a 1 for each dimension without factor."""
    mapped: _Dimensions = []
    for factors in tensor:
        if factors:
            mapped.append(factors)
        else:
            mapped.append((len(sizes),))
            sizes.append(1)
    return _kept_mapping(tuple(mapped))


@lru_cache(_MOST_KEPT)
def _kept_mapping(dimensions: tuple[tuple[int, ...], ...]) -> TensorMapping:
    return TensorMapping(tuple([DimMapping(factors) for factors in dimensions]))


def pointwise_rule(op: ir.Operation) -> OpShardingRule | None:
    """Return the rule of an op whose tensors all have the shape of its first result.

    None where that is no tensor, as with tokens, or where another tensor has more dimensions.
    """
    results = op.results
    kind = results[0].type if len(results) else None
    if not isinstance(kind, ir.ShapedType):
        return None
    result_shape = shape_of_type(kind)
    operand_ranks, result_ranks = ranks(op.operands), (len(result_shape), *ranks(results, 1))
    if max(operand_ranks + result_ranks) > len(result_shape):
        return None
    return rule_of_shape(result_shape, operand_ranks, result_ranks)


def identity_rule(
    tensor_shape: Sequence[int], operand_count: int = 1, result_count: int = 1
) -> OpShardingRule:
    """Return the rule under which all tensors, of one shape, are sharded alike.

    It is that of data-flow edges, propagation barriers and what is returned from a function.
    """
    tensor_ranks = (len(tensor_shape),)
    return rule_of_shape(
        tuple(tensor_shape), tensor_ranks * operand_count, tensor_ranks * result_count
    )


@lru_cache(_MOST_KEPT)
def rule_of_shape(
    tensor_shape: tuple[int, ...], operand_ranks: tuple[int, ...], result_ranks: tuple[int, ...]
) -> OpShardingRule:
    """Return the rule of tensors that have the first dimensions of one shape."""
    return RuleBuilder(operand_ranks, result_ranks).pointwise(tensor_shape).build()
