"""The schedule: what takes part at which op priority, and in which direction."""

from __future__ import annotations

import pytest

from sdy.dialect.parser import parse_rule
from sdy.passes.propagation.direction import Direction
from sdy.passes.propagation.op_priorities import Flow, factor_directions

RULE = parse_rule("([i, k], [k, j])->([i, j]) {i=8, j=8, k=8} reduction={k}")
NONE, FORWARD, BACKWARD, BOTH = map(Direction, range(4))


@pytest.mark.parametrize(
    ("flow", "multiple_uses", "expected"),
    [
        # At each of the five priorities, the direction of i and of k.
        (Flow.PASS_THROUGH, False, [(BOTH, BOTH)] * 5),
        (Flow.PASS_THROUGH, True, [(NONE, NONE), *[(BOTH, BOTH)] * 4]),
        (
            Flow.DYNAMIC_SLICE,
            False,
            [*[(FORWARD, FORWARD)] * 2, (BOTH, FORWARD), *[(BOTH, BOTH)] * 2],
        ),
        (Flow.OTHER, False, [*[(NONE, NONE)] * 2, (BOTH, NONE), *[(BOTH, BOTH)] * 2]),
        (
            Flow.BROADCAST,
            False,
            [*[(NONE, NONE)] * 2, (BACKWARD, NONE), (BACKWARD, BACKWARD), (BOTH, BOTH)],
        ),
        (Flow.BARRIER_FORWARD, False, [(FORWARD, FORWARD)] * 5),
    ],
)
def test_directions(
    flow: Flow, multiple_uses: bool, expected: list[tuple[Direction, Direction]]
) -> None:
    for priority, (of_i, of_k) in enumerate(expected):
        directions = factor_directions(RULE, flow, priority, multiple_uses=multiple_uses)
        assert (directions[0], directions[2]) == (of_i, of_k), priority


def test_a_blocked_factor_never_takes_part() -> None:
    rule = parse_rule("([i])->([i]) {i=8} blocked_propagation={i}")
    assert factor_directions(rule, Flow.OTHER, 4, multiple_uses=False) == (NONE,)
