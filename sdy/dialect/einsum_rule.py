"""Sharding rules for tensors of any size: `i j, j k -> i k`.

The notation is that of JAX's `custom_partitioning`. Each dimension has one factor, or several in
parentheses, major first; `...` in front stands for any number of dimensions. Together with the
shapes of an op's tensors it gives an `OpShardingRule`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdy.dialect.errors import VerifyError
from sdy.dialect.sharding_rule import DimMapping, OpShardingRule, TensorMapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["EinsumRule", "EinsumTensor"]

Dimensions = tuple[tuple[str, ...], ...]
"""The names of the factors of each dimension."""


@dataclass(frozen=True, slots=True)
class EinsumTensor:
    """The factors of one operand or result.

    Attributes:
      dimensions: the factors of each dimension, but those that the ellipsis stands for.
      ellipsis: which dimensions stand in front: "" for those of `...`, "1" for those of `...1`;
        None where there is no ellipsis.

    """

    dimensions: Dimensions
    ellipsis: str | None = None

    def __str__(self) -> str:
        ellipsis = [] if self.ellipsis is None else [f"...{self.ellipsis}"]
        return " ".join([*ellipsis, *map(_dimension_text, self.dimensions)])

    @property
    def factors(self) -> list[str]:
        """The named factors, in order."""
        return [factor for dimension in self.dimensions for factor in dimension]

    def batch_rank(self, rank: int) -> int:
        """Return how many dimensions the ellipsis stands for in a tensor of that rank.

        Raises:
          VerifyError: where the tensor cannot have that rank.

        """
        batch_rank = rank - len(self.dimensions)
        if batch_rank < 0 or (batch_rank and self.ellipsis is None):
            least = "" if self.ellipsis is None else " or more"
            raise VerifyError(
                f"has rank {len(self.dimensions)}{least} in the rule, rank {rank} in the op"
            )
        return batch_rank

    def expanded(self, rank: int) -> Dimensions:
        """Return the factors of all dimensions of a tensor of that rank."""
        batch = tuple((f"...{self.ellipsis}[{i}]",) for i in range(self.batch_rank(rank)))
        return batch + self.dimensions


@dataclass(frozen=True, slots=True)
class EinsumRule:
    """A sharding rule without sizes; `verify` checks it, `resolve` gives the rule of an op.

    Attributes:
      operands: the factors of each operand.
      results: the factors of each result.
      reduction: the factors that must be summed over when they are split.
      need_replication: the factors that may not be split when the op runs.
      permutation: the factors that exchange data with their neighbours when they are split.
      blocked_propagation: the factors along which shardings do not spread.
      sizes: the sizes of factors, by name: of those that never are a whole dimension, and of
        those that are dimensions of several sizes.

    """

    operands: tuple[EinsumTensor, ...]
    results: tuple[EinsumTensor, ...]
    reduction: tuple[str, ...] = ()
    need_replication: tuple[str, ...] = ()
    permutation: tuple[str, ...] = ()
    blocked_propagation: tuple[str, ...] = ()
    sizes: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        operands, results = (
            ", ".join(map(str, side)).strip() for side in (self.operands, self.results)
        )
        return f"{operands} -> {results}".strip()

    @property
    def tensors(self) -> tuple[EinsumTensor, ...]:
        """The operands, then the results."""
        return self.operands + self.results

    def verify(self) -> None:
        """Check all that does not depend on shapes.

        Raises:
          VerifyError: naming the rule and the factor that is wrong in it.

        """
        for message in self._complaints():
            raise VerifyError(f"sharding rule '{self}': {message}")

    def _complaints(self) -> Iterator[str]:
        used = {factor for tensor in self.tensors for factor in tensor.factors}
        for tensor in self.tensors:
            for factor in _repeated(tensor.factors):
                yield f"factor '{factor}' stands twice in '{tensor}'"
        for factor, size in self.sizes:
            if factor not in used:
                yield f"factor '{factor}' has a size and is in no tensor"
            if type(size) is not int or size < 1:
                yield f"factor '{factor}': expected a size of 1 or more, got {size!r}"
        whole = {d[0] for tensor in self.tensors for d in tensor.dimensions if len(d) == 1}
        for factor in sorted(used - whole - dict(self.sizes).keys()):
            yield f"factor '{factor}' is never a whole dimension, so its size must be given"
        yield from self._complaints_about_types(used)

    def _complaints_about_types(self, used: set[str]) -> Iterator[str]:
        typed = (*self.reduction, *self.need_replication, *self.permutation)
        for factor in (*typed, *self.blocked_propagation):
            if factor not in used:
                yield f"factor '{factor}' has a type and is in no tensor"
        for factor in _repeated(typed):
            yield f"factor '{factor}' can have one of the types once"
        for factor in _repeated(self.blocked_propagation):
            yield f"factor '{factor}' is blocked twice"
        for factor in self.reduction:
            if any(factor in result.factors for result in self.results):
                yield f"reduction factor '{factor}' cannot be in a result"

    def resolve(
        self, operand_shapes: Sequence[Sequence[int]], result_shapes: Sequence[Sequence[int]]
    ) -> OpShardingRule:
        """Return the rule of an op whose tensors have these shapes.

        A factor of size 1 is left out where it shares a dimension with others.

        Raises:
          VerifyError: where number, ranks or sizes of the tensors are not those of the rule.

        """
        _verify_count("operands", len(self.operands), len(operand_shapes))
        _verify_count("results", len(self.results), len(result_shapes))
        shapes = (*operand_shapes, *result_shapes)
        tensors = self._expanded(shapes)
        sizes = _factor_sizes(tensors, shapes, dict(self.sizes))
        for index, (tensor, shape) in enumerate(zip(tensors, shapes, strict=True)):
            _verify_products(tensor, shape, sizes, self._place(index))
        return self._numbered([_without_ones(tensor, sizes) for tensor in tensors], sizes)

    def _place(self, index: int) -> str:
        """Return what messages call the tensor at `index`."""
        count = len(self.operands)
        return f"operand {index}" if index < count else f"result {index - count}"

    def _expanded(self, shapes: Sequence[Sequence[int]]) -> list[Dimensions]:
        batch_ranks: dict[str, int] = {}
        expanded = []
        for index, (tensor, shape) in enumerate(zip(self.tensors, shapes, strict=True)):
            place = self._place(index)
            try:
                expanded.append(tensor.expanded(len(shape)))
            except VerifyError as error:
                raise VerifyError(f"{place} {error}") from None
            if tensor.ellipsis is not None:
                rank = tensor.batch_rank(len(shape))
                if batch_ranks.setdefault(tensor.ellipsis, rank) != rank:
                    raise VerifyError(
                        f"'...{tensor.ellipsis}' is {rank} dimensions in {place}, "
                        f"{batch_ranks[tensor.ellipsis]} in a tensor before"
                    )
        return expanded

    def _numbered(self, tensors: Sequence[Dimensions], sizes: dict[str, int]) -> OpShardingRule:
        """Return the rule in which factors are numbered in the order in which they stand."""
        numbers: dict[str, int] = {}
        mappings = tuple(
            TensorMapping(
                tuple(
                    DimMapping(tuple(numbers.setdefault(f, len(numbers)) for f in dimension))
                    for dimension in tensor
                )
            )
            for tensor in tensors
        )

        def indices(factors: Iterable[str]) -> tuple[int, ...]:
            return tuple(sorted(numbers[factor] for factor in factors if factor in numbers))

        return OpShardingRule(
            factor_sizes=tuple(sizes[factor] for factor in numbers),
            operands=mappings[: len(self.operands)],
            results=mappings[len(self.operands) :],
            reduction=indices(self.reduction),
            need_replication=indices(self.need_replication),
            permutation=indices(self.permutation),
            blocked_propagation=indices(self.blocked_propagation),
        )


def _dimension_text(factors: tuple[str, ...]) -> str:
    return factors[0] if len(factors) == 1 else f"({' '.join(factors)})"


def _repeated(names: Sequence[str]) -> list[str]:
    return [name for index, name in enumerate(names) if name in names[:index]]


def _verify_count(kind: str, expected: int, found: int) -> None:
    if expected != found:
        raise VerifyError(f"the number of {kind} is {expected} in the rule, {found} in the op")


def _factor_sizes(
    tensors: Sequence[Dimensions], shapes: Sequence[Sequence[int]], given: dict[str, int]
) -> dict[str, int]:
    """Return the size of each factor: as given, else that of the dimensions that it is alone in."""
    whole: dict[str, set[int]] = {}
    for tensor, shape in zip(tensors, shapes, strict=True):
        for factors, size in zip(tensor, shape, strict=True):
            if len(factors) == 1:
                whole.setdefault(factors[0], set()).add(size)
    for factor, sizes in whole.items():
        if factor in given and given[factor] != min(sizes):
            raise VerifyError(
                f"factor '{factor}' has size {given[factor]}, "
                f"its dimensions in the op {_listed(sizes)}"
            )
        if factor not in given and len(sizes) > 1:
            is_named = not factor.startswith("...")
            hint = f"; if that is meant, give {min(sizes)} as its size" if is_named else ""
            raise VerifyError(f"factor '{factor}' is dimensions of sizes {_listed(sizes)}{hint}")
    return given | {factor: min(sizes) for factor, sizes in whole.items()}


def _listed(sizes: Iterable[int]) -> str:
    return " and ".join(map(str, sorted(sizes)))


def _verify_products(
    tensor: Dimensions, shape: Sequence[int], sizes: dict[str, int], place: str
) -> None:
    for index, (factors, size) in enumerate(zip(tensor, shape, strict=True)):
        product = math.prod(sizes[factor] for factor in factors)
        if len(factors) > 1 and product != size:
            raise VerifyError(
                f"dimension {index} of {place} has size {size}, "
                f"the factors of '{_dimension_text(factors)}' have {product}"
            )


def _without_ones(tensor: Dimensions, sizes: dict[str, int]) -> Dimensions:
    def pruned(factors: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(factor for factor in factors if sizes[factor] > 1) or factors[:1]

    return tuple(pruned(factors) if len(factors) > 1 else factors for factors in tensor)
