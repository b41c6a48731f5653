"""Sharding rules: how the dimensions of an op's operands and results correspond.

Dimensions that must be split alike share a factor. In `([i, k],[k, j])->([i, j])` the rows of
the first operand and of the result are one factor, i; the contracted dimensions are k.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

from mypy_extensions import i64, mypyc_attr

from sdy.dialect import rule_verifier
from sdy.dialect.factor_type import FactorType
from sdy.dialect.immutable import Immutable
from sdy.dialect.names import factor_symbol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.dialect.verifier import Shape

__all__ = ["DimMapping", "FactorType", "OpShardingRule", "TensorMapping", "factor_symbol"]


@final
@mypyc_attr(acyclic=True)
@dataclass(frozen=True, slots=True, init=False, eq=False)
class DimMapping(Immutable):
    """The factors of one dimension, major first; several where the op merges dimensions."""

    factors: tuple[int, ...]

    def __init__(self, factors: tuple[int, ...]) -> None:
        object.__setattr__(self, "factors", factors)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DimMapping):
            return NotImplemented
        return self.factors == other.factors

    def __hash__(self) -> int:
        return hash(self.factors)

    def __str__(self) -> str:
        return "".join(map(factor_symbol, self.factors))

    def is_minor_most(self, factor: int) -> bool:
        """Return whether `factor` is the last of the dimension."""
        return bool(self.factors) and self.factors[-1] == factor


@final
@mypyc_attr(acyclic=True)
@dataclass(frozen=True, slots=True, init=False, eq=False)
class TensorMapping(Immutable):
    """The factors of every dimension of one operand or result."""

    dimensions: tuple[DimMapping, ...]
    _hash: i64 = field(init=False, repr=False, compare=False)

    def __init__(self, dimensions: tuple[DimMapping, ...]) -> None:
        object.__setattr__(self, "dimensions", dimensions)
        object.__setattr__(self, "_hash", 0)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TensorMapping):
            return NotImplemented
        return self.dimensions == other.dimensions

    def __hash__(self) -> int:
        # Kept, because many rules have the same few mappings.
        if self._hash == 0:
            object.__setattr__(self, "_hash", hash(self.dimensions))
        return self._hash

    def __str__(self) -> str:
        return "[" + ", ".join(map(str, self.dimensions)) + "]"

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.dimensions)

    def contains_factor(self, factor: int) -> bool:
        """Return whether a dimension has `factor`."""
        return any(factor in dimension.factors for dimension in self.dimensions)


@final
@mypyc_attr(acyclic=True)
@dataclass(frozen=True, slots=True, init=False, eq=False)
class OpShardingRule(Immutable):
    """How an op can be partitioned.

    Attributes:
      factor_sizes: the size of each factor.
      operands: the mapping of each operand.
      results: the mapping of each result.
      reduction: the factors that must be summed over when they are split.
      need_replication: the factors that may not be split when the op runs.
      permutation: the factors that exchange data with their neighbours when they are split.
      blocked_propagation: the factors along which shardings do not spread.
      is_custom: whether a user wrote the rule; such a rule is never dropped.
      tensors: the mappings of the operands, then of the results.

    """

    factor_sizes: tuple[int, ...]
    operands: tuple[TensorMapping, ...]
    results: tuple[TensorMapping, ...]
    reduction: tuple[int, ...]
    need_replication: tuple[int, ...]
    permutation: tuple[int, ...]
    blocked_propagation: tuple[int, ...]
    is_custom: bool
    tensors: tuple[TensorMapping, ...] = field(init=False, repr=False, compare=False)
    _hash: i64 = field(init=False, repr=False, compare=False)

    def __init__(
        self,
        factor_sizes: tuple[int, ...],
        operands: tuple[TensorMapping, ...],
        results: tuple[TensorMapping, ...],
        reduction: tuple[int, ...] = (),
        need_replication: tuple[int, ...] = (),
        permutation: tuple[int, ...] = (),
        blocked_propagation: tuple[int, ...] = (),
        is_custom: bool = False,
    ) -> None:
        object.__setattr__(self, "factor_sizes", factor_sizes)
        object.__setattr__(self, "operands", operands)
        object.__setattr__(self, "results", results)
        object.__setattr__(self, "reduction", reduction)
        object.__setattr__(self, "need_replication", need_replication)
        object.__setattr__(self, "permutation", permutation)
        object.__setattr__(self, "blocked_propagation", blocked_propagation)
        object.__setattr__(self, "is_custom", is_custom)
        object.__setattr__(self, "tensors", operands + results)
        object.__setattr__(self, "_hash", 0)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, OpShardingRule):
            return NotImplemented
        return self._fields() == other._fields()

    def __hash__(self) -> int:
        # Kept, because the classes of ops and the attributes of rules are looked up by it.
        if self._hash == 0:
            object.__setattr__(self, "_hash", hash(self._fields()))
        return self._hash

    def _fields(self) -> tuple[object, ...]:
        """Return all that the rule says."""
        return (
            self.factor_sizes,
            self.operands,
            self.results,
            self.reduction,
            self.need_replication,
            self.permutation,
            self.blocked_propagation,
            self.is_custom,
        )

    def __str__(self) -> str:
        return f"op_sharding_rule<{self.body}>"

    @property
    def body(self) -> str:
        """The text between the angle brackets, as MLIR has it in `#sdy.op_sharding_rule<...>`."""
        operands = ", ".join(map(str, self.operands))
        results = ", ".join(map(str, self.results))
        sizes = ", ".join(f"{factor_symbol(i)}={n}" for i, n in enumerate(self.factor_sizes))
        return (
            f"({operands})->({results})"
            + (f" {{{sizes}}}" if sizes else "")
            + _factor_set("reduction", self.reduction)
            + _factor_set("need_replication", self.need_replication)
            + _factor_set("permutation", self.permutation)
            + _factor_set("blocked_propagation", self.blocked_propagation)
            + (", custom" if self.is_custom else "")
        )

    @property
    def factor_count(self) -> int:
        """The number of factors."""
        return len(self.factor_sizes)

    def factor_type(self, factor: int) -> FactorType:
        """Return what splitting `factor` asks of the op."""
        if factor in self.reduction:
            return FactorType.REDUCTION
        if factor in self.need_replication:
            return FactorType.NEED_REPLICATION
        if factor in self.permutation:
            return FactorType.PERMUTATION
        return FactorType.PASS_THROUGH

    def verify(
        self,
        operand_shapes: Sequence[Shape] | None = None,
        result_shapes: Sequence[Shape] | None = None,
    ) -> None:
        """Check every invariant, of an op with tensors of these shapes if given.

        Raises:
          VerifyError: saying which invariant is broken.

        """
        rule_verifier.verify_rule(self, operand_shapes, result_shapes)

    def is_in_all_tensors(self, factor: int) -> bool:
        """Return whether `factor` is in every tensor that is no scalar."""
        return all(tensor.contains_factor(factor) for tensor in self.tensors if tensor.dimensions)

    def is_batching_factor(self, factor: int) -> bool:
        """Return whether `factor` passes through and is in every tensor that is no scalar."""
        return self.factor_type(factor) is FactorType.PASS_THROUGH and self.is_in_all_tensors(
            factor
        )


def _factor_set(keyword: str, factors: tuple[int, ...]) -> str:
    return f" {keyword}={{{', '.join(map(factor_symbol, factors))}}}" if factors else ""
