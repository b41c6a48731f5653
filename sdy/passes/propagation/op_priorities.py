"""The op priorities: ops that move no data first, broadcasts last.

Each priority allows more than the one before it. The schedule is Shardy's
`OpPriorityPropagation`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sdy.passes.propagation.direction import Direction
from sdy.passes.propagation.flow import Flow

if TYPE_CHECKING:
    from sdy.dialect.sharding_rule import OpShardingRule

__all__ = ["OP_PRIORITIES", "Flow", "factor_directions"]

OP_PRIORITIES = range(5)

_BARRIERS = {
    Flow.BARRIER_NONE: Direction.NONE,
    Flow.BARRIER_FORWARD: Direction.FORWARD,
    Flow.BARRIER_BACKWARD: Direction.BACKWARD,
    Flow.BARRIER_BOTH: Direction.BOTH,
}

_PASS_THROUGH = {Flow.PASS_THROUGH: Direction.BOTH, Flow.DYNAMIC_SLICE: Direction.FORWARD}


def factor_directions(
    rule: OpShardingRule, flow: Flow, priority: int, *, multiple_uses: bool
) -> tuple[Direction, ...]:
    """Return for each factor of a rule in which direction its axes may go.

    Args:
      rule: the op's rule.
      flow: what kind of op it is.
      priority: the op priority; the last allows all.
      multiple_uses: whether an operand that is no scalar has more than one use.

    """
    pass_through, other = _DIRECTIONS[flow, priority, multiple_uses]
    directions = [pass_through] * rule.factor_count
    if other is not pass_through:
        for factors in (rule.reduction, rule.need_replication, rule.permutation):
            for factor in factors:
                directions[factor] = other
    for factor in rule.blocked_propagation:
        directions[factor] = _NOWHERE
    return tuple(directions)


def _direction(
    flow: Flow, priority: int, multiple_uses: bool, *, is_pass_through: bool
) -> Direction:
    if flow in _BARRIERS:
        return _BARRIERS[flow]
    direction = Direction.NONE
    if priority >= 1 or not multiple_uses:
        direction |= _PASS_THROUGH.get(flow, Direction.NONE)
    except_broadcast_forward = Direction.BACKWARD if flow is Flow.BROADCAST else Direction.BOTH
    if priority >= 2 and is_pass_through:
        direction |= except_broadcast_forward
    if priority >= 3:
        direction |= except_broadcast_forward
    if priority >= 4:
        direction = Direction.BOTH
    return direction


_NOWHERE: Final = Direction.NONE  # Kept, because a member of an enum is slow to look up.

_DIRECTIONS: Final = {
    (flow, priority, multiple_uses): (
        _direction(flow, priority, multiple_uses, is_pass_through=True),
        _direction(flow, priority, multiple_uses, is_pass_through=False),
    )
    for flow in Flow
    for priority in OP_PRIORITIES
    for multiple_uses in (False, True)
}
"""The directions of pass-through factors and of others."""
