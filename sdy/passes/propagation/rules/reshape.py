"""Reshape: which parts of the operand's dimensions are which parts of the result's.

Both sides are cut into factors from major to minor. As long as the cuts made so far are at the
same place on both sides, what the next dimensions have in common is a shared factor. In
`tensor<8x3> -> tensor<2x12>` these are 2, 4 and 3: `([ij, k])->([i, jk])`. Where they have
nothing in common, as in `tensor<2x3> -> tensor<3x2>`, each side is cut by itself until the cuts
are at the same place again.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sdy.passes.propagation.rules.builder import RuleBuilder
from sdy.passes.propagation.rules.registration import rule

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.dialect.sharding_rule import OpShardingRule


@rule("stablehlo.reshape")
def _reshape(op: ir.Operation) -> OpShardingRule | None:
    builder = RuleBuilder.of(op)
    operand, result = _Side(builder.operands[0]), _Side(builder.results[0])
    if min(operand.sizes + result.sizes, default=1) < 1:
        return None  # No elements, or an unknown number of them.
    while operand.is_open or result.is_open:
        _cut(builder, operand, result)
    return builder.build()


class _Side:
    """The dimensions of one tensor, cut into factors up to some place.

    Attributes:
      sizes: the dimension sizes.
      dimension: the index of the dimension that is being cut.
      rest: the size of what is left of that dimension.
      place: the product of the factors so far.

    """

    __slots__ = ("dimension", "place", "rest", "sizes")

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self.sizes = sizes
        self.dimension = 0
        self.rest = sizes[0] if sizes else 1
        self.place = 1

    @property
    def is_open(self) -> bool:
        """Whether a dimension is left."""
        return self.dimension < len(self.sizes)

    @property
    def is_at_unit_dimension(self) -> bool:
        """Whether the next dimension has size 1."""
        return self.is_open and self.sizes[self.dimension] == 1

    def take(self, size: int) -> int:
        """Cut off a factor; return the dimension that it belongs to."""
        dimension = self.dimension
        self.place *= size
        self.rest //= size
        if self.rest == 1:
            self.dimension += 1
            self.rest = self.sizes[self.dimension] if self.is_open else 1
        return dimension

    def size_towards(self, other: _Side) -> int:
        """Return the size of the factor by which to follow `other`, which is further on.

        It ends where `other` is, if that is a place in this dimension. Otherwise it leaves for
        later what the two dimensions have in common.
        """
        step, remainder = divmod(other.place, self.place)
        if remainder == 0 and self.rest % step == 0:
            return step
        common = math.gcd(self.rest, other.rest)
        return self.rest // common if self.rest > common else self.rest


def _cut(builder: RuleBuilder, operand: _Side, result: _Side) -> None:
    """Add the next factor: shared, or of the side that is behind, or one of each side."""
    if operand.is_at_unit_dimension:
        _add_to_operand(builder, operand, 1)
    elif result.is_at_unit_dimension:
        _add_to_result(builder, result, 1)
    elif operand.place < result.place:
        _add_to_operand(builder, operand, operand.size_towards(result))
    elif operand.place > result.place:
        _add_to_result(builder, result, result.size_towards(operand))
    elif (common := math.gcd(operand.rest, result.rest)) > 1:
        builder.factor(operands=[operand.take(common)], results=[result.take(common)], size=common)
    else:
        _add_to_operand(builder, operand, operand.rest)
        _add_to_result(builder, result, result.rest)


def _add_to_operand(builder: RuleBuilder, operand: _Side, size: int) -> None:
    builder.factor(operands=[operand.take(size)], results=[None], size=size)


def _add_to_result(builder: RuleBuilder, result: _Side, size: int) -> None:
    builder.factor(operands=[None], results=[result.take(size)], size=size)
