"""Which axes a step moves, from which tensor to which."""

from __future__ import annotations

import pytest

from sdy.dialect.parser import parse_rule
from sdy.passes.propagation.axis_flows import constraint_flows, step_flows
from sdy.passes.propagation.direction import Direction
from sdy.passes.propagation.op_priorities import Flow
from sdy.passes.propagation.step_case import OpClass, StepCase, Strategy
from tests.unit.propagation.steps_in_text import sharding

ADD = "([i, j], [i, j])->([i, j]) {i=8, j=8}"
DOT = "([i, k], [k, j])->([i, j]) {i=8, j=8, k=8} reduction={k}"
SPLIT = "([ij])->([i, j]) {i=2, j=4}"
JOIN = "([i, j])->([ij]) {i=2, j=4}"


def flows(rule: str, *shardings: str | None) -> list[tuple[str, int, int]]:
    """Return axis, source and target of what a basic step in both directions moves."""
    parsed = parse_rule(rule)
    op = OpClass(parsed, Flow.OTHER, is_elementwise=False, conservative=False)
    directions = (Direction.BOTH,) * parsed.factor_count
    case = StepCase(op, Strategy.BASIC, directions, tuple(map(sharding, shardings)))
    return [(str(flow.axis), flow.source, flow.target) for flow in step_flows(case)]


@pytest.mark.parametrize(
    ("rule", "before", "expected"),
    [
        (ADD, ('[{"a"}, {?}]', None, None), [('"a"', 0, 1), ('"a"', 0, 2)]),
        (ADD, (None, None, '[{?}, {"b"}]'), [('"b"', 2, 0), ('"b"', 2, 1)]),
        (ADD, ('[{"a"}, {?}]', '[{"a"}, {?}]', None), [('"a"', 0, 2)]),
        (DOT, ('[{?}, {"a"}]', None, None), [('"a"', 0, 1)]),
        (SPLIT, ('[{"a"}]', None), [('"a":(1)2', 0, 1), ('"a":(2)2', 0, 1)]),
        (JOIN, ('[{"a":(1)2}, {"a":(2)2}]', None), [('"a"', 0, 1)]),
        (ADD, ('[{"a"}, {?}]', '[{"a"}, {}]', '[{"a"}, {}]'), []),
    ],
    ids=["forward", "backward", "first source", "reduction", "split", "join", "nothing"],
)
def test_flows(
    rule: str, before: tuple[str | None, ...], expected: list[tuple[str, int, int]]
) -> None:
    assert flows(rule, *before) == expected


def test_an_axis_that_grows_comes_from_where_it_was_longer() -> None:
    before = ('[{"a":(1)2, ?}, {?}]', '[{"a", ?}, {?}]', None)
    assert flows(ADD, *before) == [('"a"', 1, 0), ('"a"', 1, 2)]


def test_a_constraint_gives_its_input_its_axes() -> None:
    rule = parse_rule("([i, j])->([i, j]) {i=8, j=8}")
    asked = sharding('[{"a"}, {"b"}]')
    assert asked is not None
    moved = constraint_flows(rule, asked)
    assert moved is not None
    assert [(str(flow.axis), flow.source, flow.target) for flow in moved] == [
        ('"a"', 1, 0),
        ('"b"', 1, 0),
    ]


def test_a_constraint_on_a_scalar_is_no_step() -> None:
    asked = sharding("[]")
    assert asked is not None
    assert constraint_flows(parse_rule("([])->([])"), asked) is None
