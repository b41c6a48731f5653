"""One step: what operands and results of an op make of each other's shardings."""

from __future__ import annotations

from sdy.passes.propagation.direction import Direction
from sdy.passes.propagation.step_case import Strategy
from tests.unit.propagation.steps_in_text import step

ADD = "([i, j], [i, j])->([i, j]) {i=8, j=8}"
DOT = "([i, k], [k, j])->([i, j]) {i=8, j=8, k=8} reduction={k}"
MERGE = "([i, j])->([ij]) {i=2, j=4}"


def test_axes_spread_to_all_tensors_of_a_factor() -> None:
    assert step(DOT, '[{"a"}, {"b"}]', None, None) == [
        '[{"a"}, {"b"}]',
        '[{"b", ?}, {?}]',
        '[{"a", ?}, {?}]',
    ]


def test_the_longest_list_that_all_agree_on_wins() -> None:
    assert step(ADD, '[{"a", ?}, {?}]', '[{"a", "b"}, {}]', None) == [
        '[{"a", "b", ?}, {?}]',
        '[{"a", "b"}, {}]',
        '[{"a", "b", ?}, {?}]',
    ]


def test_a_conflict_ends_what_all_agree_on() -> None:
    assert step(ADD, '[{"a", "b"}, {}]', '[{"a", "c"}, {}]', None)[2] == '[{"a", ?}, {?}]'


def test_a_sub_axis_grows_into_its_axis() -> None:
    assert step(ADD, '[{"a":(1)2, ?}, {?}]', '[{"a"}, {}]', None) == [
        '[{"a", ?}, {?}]',
        '[{"a"}, {}]',
        '[{"a", ?}, {?}]',
    ]


def test_a_closed_dimension_takes_nothing_and_holds_others_back() -> None:
    before = ('[{"a"}, {}]', "[{}, {}]", None)
    assert step(ADD, *before) == ['[{"a"}, {}]', "[{}, {}]", None]


def test_an_axis_of_another_factor_is_not_used_twice() -> None:
    assert step(DOT, '[{"a"}, {?}]', '[{?}, {"a"}]', None) == [
        '[{"a"}, {?}]',
        '[{?}, {"a"}]',
        None,
    ]


def test_replicated_axes_are_kept_free() -> None:
    assert step(ADD, '[{"a"}, {}]', '[{?}, {?}], replicated={"a"}', None)[2] is None


def test_merged_dimensions_join_sub_axes() -> None:
    assert step(MERGE, '[{"a":(1)2}, {"a":(2)2}]', None)[1] == '[{"a", ?}]'


def test_split_dimensions_split_an_axis() -> None:
    assert step("([ij])->([i, j]) {i=2, j=4}", '[{"a"}]', None)[1] == (
        '[{"a":(1)2, ?}, {"a":(2)2, ?}]'
    )


def test_conservative_steps_make_no_sub_axes() -> None:
    split = "([ij])->([i, j]) {i=2, j=4}"
    assert step(split, '[{"a"}]', None, conservative=True)[1] is None


def test_forward_does_not_change_operands() -> None:
    forward = [Direction.FORWARD] * 2
    assert step(ADD, '[{"a"}, {?}]', None, None, directions=forward) == [
        '[{"a"}, {?}]',
        '[{"a", ?}, {?}]',
        '[{"a", ?}, {?}]',
    ]
    assert step(ADD, None, None, '[{"a"}, {?}]', directions=forward) == [
        None,
        None,
        '[{"a"}, {?}]',
    ]


def test_blocked_factors_are_left_alone() -> None:
    none = [Direction.NONE, Direction.BOTH]
    assert step(ADD, '[{"a"}, {"b"}]', None, None, directions=none)[2] == '[{?}, {"b", ?}]'


def test_aggressive_steps_resolve_conflicts_for_the_larger_source() -> None:
    dot = "([i, k], [k, j])->([i, j]) {i=8, j=64, k=8} reduction={k}"
    conflict = ('[{"a"}, {?}]', '[{?}, {"a"}]', None)
    assert step(dot, *conflict)[2] is None
    assert step(dot, *conflict, strategy=Strategy.AGGRESSIVE)[2] == '[{?}, {"a", ?}]'


def test_an_elementwise_op_prefers_the_most_sharded_factor() -> None:
    conflict = ('[{"b"}, {?}]', '[{?}, {"b", "a"}]', None)
    aggressive = step(ADD, *conflict, strategy=Strategy.AGGRESSIVE, elementwise=True)
    assert aggressive[2] == '[{?}, {"b", "a", ?}]'


def test_an_elementwise_operand_is_not_sharded_beyond_a_closed_result() -> None:
    before = ('[{"a", ?}, {?}]', None, "[{}, {}]")
    assert step(ADD, *before, strategy=Strategy.AGGRESSIVE, elementwise=True)[1] is None
    assert step(ADD, *before, strategy=Strategy.AGGRESSIVE)[1] == '[{"a", ?}, {?}]'


def test_what_is_sharded_on_two_meshes_is_left_alone() -> None:
    from sdy.dialect.mesh import Mesh
    from sdy.dialect.parser import parse_sharding
    from sdy.passes.propagation.step import common_mesh

    first = parse_sharding('sharding<@m, [{"x"}]>', Mesh({"x": 2}, name="m"))
    second = parse_sharding('sharding<@n, [{"y"}]>', Mesh({"y": 2}, name="n"))
    same = parse_sharding('sharding<@o, [{"x"}]>', Mesh({"x": 2}, name="o"))
    assert common_mesh([first, None, second]) is None
    assert common_mesh([None, first, same]) == first.mesh
