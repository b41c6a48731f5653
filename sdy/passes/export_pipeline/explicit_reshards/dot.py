"""A dot whose result is cheaper to reshard than its operands."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.sharding_rule import OpShardingRule
    from sdy.passes.propagation.projection import Projection

__all__ = ["reshard_dot_result"]

Axes = tuple["AxisRef", ...]


def reshard_dot_result(projection: Projection, rule: OpShardingRule, sizes: Sequence[int]) -> bool:
    """Shard the result of a dot as the operands are, where it is to be resharded then.

    That is where the operands agree with each other and the result differs from one of them in
    a single factor, is no larger than it, and is there sharded by just the axes along which the
    dot sums up. Then all axes split the dot, and the smaller tensor moves.

    Args:
      projection: the factor shardings; that of the result is changed if so.
      rule: the dot's rule.
      sizes: how many elements the two operands and the result have.

    Returns:
      Whether the result is to be resharded.

    """
    summed: list[AxisRef] = []
    conflict: tuple[int, Axes] | None = None
    if not _operands_agree(projection, rule):
        return False
    result = projection.results[0].factors
    for factor in range(rule.factor_count):
        holders = [i for i, tensor in enumerate(projection.operands) if factor in tensor.factors]
        axes = projection.operands[holders[0]].factors[factor].axes if holders else ()
        if len(holders) == 2 and factor in rule.reduction:
            summed += axes
        elif factor not in result or result[factor].axes == axes:
            continue
        elif conflict or not axes or sizes[-1] > max(sizes[i] for i in holders):
            return False
        else:
            conflict = factor, axes
    if conflict is None:
        return False
    sharding = result[conflict[0]]
    if not sharding.axes or sharding.axes != tuple(summed):
        return False
    sharding.axes = conflict[1]
    return True


def _operands_agree(projection: Projection, rule: OpShardingRule) -> bool:
    """Return whether shared factors are sharded alike, and others by axes that do not overlap."""
    left, right = (tensor.factors for tensor in projection.operands)
    own: list[AxisRef] = []
    for factor in range(rule.factor_count):
        if factor in left and factor in right:
            if left[factor].axes != right[factor].axes:
                return False
            continue
        sharding = left.get(factor) or right.get(factor)
        for axis in () if sharding is None else sharding.axes:
            if any(axis.overlaps(other) for other in own):
                return False
            own.append(axis)
    return True
