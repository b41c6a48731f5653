"""Projection: the shardings of an op's tensors seen as shardings of its rule's factors.

A dimension that several factors make up is split from its major axis on: each factor takes
axes, and where need be a sub-axis, until it is full; the minor-most takes all the rest.
Projecting back joins what was split.

The idea is Shardy's `ShardingProjection`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from mypy_extensions import mypyc_attr

from sdy.dialect.axes import AxisRef, axes_size, join_axes, merge_adjacent_axes
from sdy.dialect.sharding import DimensionSharding, TensorSharding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding_rule import OpShardingRule, TensorMapping

__all__ = [
    "Axes",
    "FactorSharding",
    "Projection",
    "TensorFactors",
    "is_prefix",
    "is_strict_prefix",
]

Axes = tuple[AxisRef, ...]

_OPEN = DimensionSharding(is_closed=False)


def is_prefix(first: Axes, second: Axes) -> bool:
    """Return whether `first` is `second` or a major part of it."""
    return first == second or is_strict_prefix(first, second)


def is_strict_prefix(first: Axes, second: Axes) -> bool:
    """Return whether `first` is a major part of `second` and not `second`."""
    if not first:
        return bool(second)
    if first == second:
        return False
    last = len(first) - 1
    return (
        last < len(second)
        and first[:last] == second[:last]
        and first[last].is_prefix_of(second[last])
    )


@final
@mypyc_attr(acyclic=True)
@dataclass(slots=True, init=False)
class FactorSharding:
    """How one factor of one tensor is sharded.

    Attributes:
      axes: the axes that split the factor, major first.
      is_closed: whether no axis may be added.
      is_minor_most: whether the factor is the last of its dimension; such a factor may be split
        by axes that do not divide it.
      overflow: axes of the dimension from the first on that does not divide the factor. They
        are kept for the way back.

    """

    axes: Axes
    is_closed: bool
    is_minor_most: bool
    overflow: Axes

    def __init__(
        self,
        axes: Axes = (),
        is_closed: bool = False,
        is_minor_most: bool = False,
        overflow: Axes = (),
    ) -> None:
        # Written out, as that of a dataclass would not be compiled.
        self.axes = axes
        self.is_closed = is_closed
        self.is_minor_most = is_minor_most
        self.overflow = overflow

    @property
    def may_grow(self) -> bool:
        """Whether axes may be added."""
        return not self.is_closed and not self.overflow


@final
@mypyc_attr(acyclic=True)
@dataclass(slots=True, init=False)
class TensorFactors:
    """The factor shardings of one tensor, by factor, and what must stay as it is."""

    factors: dict[int, FactorSharding]
    replicated: Axes
    unreduced: Axes

    def __init__(
        self, factors: dict[int, FactorSharding], replicated: Axes = (), unreduced: Axes = ()
    ) -> None:
        self.factors = factors
        self.replicated = replicated
        self.unreduced = unreduced

    @staticmethod
    def project(
        sharding: TensorSharding | None,
        mapping: TensorMapping,
        factor_sizes: tuple[int, ...],
        mesh: Mesh,
        *,
        closed_if_missing: bool = False,
    ) -> TensorFactors:
        """Return the factor shardings of a tensor; a missing sharding is open and empty."""
        factors: dict[int, FactorSharding] = {}
        if sharding is None:
            for dim_mapping in mapping.dimensions:
                own = dim_mapping.factors
                for factor in own:
                    factors[factor] = FactorSharding((), closed_if_missing, factor == own[-1])
            return TensorFactors(factors)
        result = TensorFactors(factors, sharding.replicated, sharding.unreduced)
        dimensions = sharding.dimensions
        for index, dim_mapping in enumerate(mapping.dimensions):
            dimension = dimensions[index]
            axes, own = dimension.axes, dim_mapping.factors
            if len(own) > 1 or len(axes) > 1:
                result._project_dimension(dimension, own, factor_sizes, mesh)
            else:
                # Most dimensions: nothing to split or merge.
                factors[own[0]] = FactorSharding(axes, dimension.is_closed, is_minor_most=True)
        return result

    def _project_dimension(
        self,
        dimension: DimensionSharding,
        factors: tuple[int, ...],
        factor_sizes: tuple[int, ...],
        mesh: Mesh,
    ) -> None:
        remaining = dimension.axes
        for factor in factors[:-1]:
            axes, remaining, is_full = _take_axes(remaining, factor_sizes[factor], mesh)
            sharding = FactorSharding(axes, dimension.is_closed)
            self.factors[factor] = sharding
            if remaining and not is_full:
                sharding.overflow = merge_adjacent_axes(remaining, mesh)
                self._close(factors[factors.index(factor) + 1], factors[-1])
                return
        axes = merge_adjacent_axes(remaining, mesh)
        self.factors[factors[-1]] = FactorSharding(axes, dimension.is_closed, is_minor_most=True)

    def _close(self, factor: int, minor_most: int) -> None:
        """Keep a factor that follows overflowing axes from being sharded.

        Factors beyond it are not projected: the way back stops before them.
        """
        self.factors[factor] = FactorSharding(is_closed=True, is_minor_most=factor == minor_most)

    def expand(self, factor: int, axes: Axes) -> bool:
        """Shard `factor` by `axes` if that adds to its sharding; return whether it did."""
        sharding = self.factors.get(factor)
        if sharding is None or not is_strict_prefix(sharding.axes, axes):
            return False
        sharding.axes = axes
        return True

    def to_sharding(
        self, mapping: TensorMapping, factor_sizes: tuple[int, ...], mesh: Mesh
    ) -> TensorSharding:
        """Return the sharding of the tensor that these factor shardings amount to.

        A factor after one that is not fully split is left out: it would need a strided view.
        """
        dimensions: list[DimensionSharding] = []
        for dim_mapping in mapping.dimensions:
            axes: Axes = ()
            is_closed = False
            own = dim_mapping.factors
            for factor in own:
                sharding = self.factors.get(factor)
                if sharding is None:
                    break
                is_closed |= sharding.is_closed
                axes = join_axes(axes, sharding.axes, mesh) if axes else sharding.axes
                if sharding.overflow:
                    axes = join_axes(axes, sharding.overflow, mesh)
                    break
                if factor != own[-1] and axes_size(sharding.axes, mesh) < factor_sizes[factor]:
                    break
            dimensions.append(DimensionSharding(axes, is_closed) if axes or is_closed else _OPEN)
        return TensorSharding(mesh, tuple(dimensions), self.replicated, self.unreduced)


def _take_axes(axes: Axes, factor_size: int, mesh: Mesh) -> tuple[Axes, Axes, bool]:
    """Return the axes that shard a factor, those left, and whether the factor is fully split."""
    taken: list[AxisRef] = []
    left = list(axes)
    while left:
        size = left[0].size(mesh)
        common = math.gcd(factor_size, size)
        if common == 1 and size > 1:
            break
        if common < size:
            major, left[0] = left[0].split(common, mesh)
            taken.append(major)
        else:
            taken.append(left.pop(0))
        factor_size //= common
    return tuple(taken), tuple(left), factor_size == 1


@final
@mypyc_attr(acyclic=True)
@dataclass(slots=True, init=False)
class Projection:
    """The factor shardings of all operands and results of an op."""

    operands: list[TensorFactors]
    results: list[TensorFactors]

    def __init__(self, operands: list[TensorFactors], results: list[TensorFactors]) -> None:
        self.operands = operands
        self.results = results

    def tensors(self) -> list[TensorFactors]:
        """Return the operands, then the results."""
        return self.operands + self.results

    @staticmethod
    def build(
        shardings: Sequence[TensorSharding | None], rule: OpShardingRule, mesh: Mesh
    ) -> Projection:
        """Project the shardings of the operands, then the results, of an op with `rule`."""
        sizes = rule.factor_sizes
        count = len(rule.operands)
        operands = [
            TensorFactors.project(shardings[position], mapping, sizes, mesh)
            for position, mapping in enumerate(rule.operands)
        ]
        results = [
            TensorFactors.project(shardings[count + position], mapping, sizes, mesh)
            for position, mapping in enumerate(rule.results)
        ]
        return Projection(operands, results)
