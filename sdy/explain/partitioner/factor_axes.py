"""The axes of each factor of an op, as its result or its operands have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.dialect.axes import prefix_without_overlap
from sdy.dialect.sharding_rule import FactorType
from sdy.explain.partitioner.op_case import Axes, OpCase, factors_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.dialect.sharding_rule import OpShardingRule

__all__ = ["axes_of_result", "axes_of_tensor", "without"]


def axes_of_tensor(case: OpCase, rule: OpShardingRule, index: int) -> list[Axes]:
    """Return the axes of one tensor, operands first; none for what must not be split."""
    axes: list[Axes] = [()] * rule.factor_count
    for factor, sharding in factors_of(case, rule, index).factors.items():
        if factor not in rule.need_replication:
            axes[factor] = sharding.axes
    return axes


def axes_of_result(case: OpCase, rule: OpShardingRule) -> list[Axes]:
    """Return for each factor the axes of the results, and of the operands what is summed up."""
    axes: list[Axes] = [()] * rule.factor_count
    used: list[Axes] = []
    count = len(case.operands)
    for index in (*range(count, count + len(case.results)), *range(count)):
        for factor, sharding in factors_of(case, rule, index).factors.items():
            is_own = index >= count or rule.factor_type(factor) is FactorType.REDUCTION
            if is_own and not axes[factor] and factor not in rule.need_replication:
                axes[factor] = without(sharding.axes, used)
                used.append(axes[factor])
    return axes


def without(axes: Axes, used: Sequence[Axes]) -> Axes:
    """Return the longest prefix of `axes` that is in none of the others."""
    others = tuple(axis for each in used for axis in each)
    for index, axis in enumerate(axes):
        prefix = prefix_without_overlap(axis, others)
        if prefix != axis:
            return axes[:index] if prefix is None else (*axes[:index], prefix)
    return axes
