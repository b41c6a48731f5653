"""Dimensions seen as factors, and back."""

from __future__ import annotations

import pytest

from sdy.dialect.mesh import Mesh
from sdy.dialect.parser import parse_rule
from sdy.passes.propagation.projection import TensorFactors, is_strict_prefix
from tests.unit.propagation.steps_in_text import sharding


def project(rule_text: str, sharding_text: str, mesh: Mesh) -> tuple[TensorFactors, str]:
    """Return the factor shardings of the first operand, and the sharding that they give back."""
    rule = parse_rule(rule_text)
    factors = TensorFactors.project(
        sharding(sharding_text, mesh), rule.operands[0], rule.factor_sizes, mesh
    )
    back = factors.to_sharding(rule.operands[0], rule.factor_sizes, mesh)
    return factors, back.body.removeprefix("@m, ")


def axes(factors: TensorFactors, factor: int) -> str:
    return " ".join(map(str, factors.factors[factor].axes))


def test_an_axis_is_split_between_the_factors_of_a_dimension() -> None:
    mesh = Mesh({"x": 4, "y": 2}, name="m")
    factors, back = project("([ij])->([i, j]) {i=2, j=4}", '[{"x", "y"}]', mesh)
    assert axes(factors, 0) == '"x":(1)2'
    assert axes(factors, 1) == '"x":(2)2 "y"'
    assert back == '[{"x", "y"}]'


def test_an_axis_that_does_not_divide_a_factor_overflows_and_closes_the_next() -> None:
    mesh = Mesh({"x": 2, "y": 3}, name="m")
    factors, back = project("([ijk])->([i, j, k]) {i=4, j=2, k=2}", '[{"x", "y", ?}]', mesh)
    assert axes(factors, 0) == '"x"'
    assert [str(axis) for axis in factors.factors[0].overflow] == ['"y"']
    assert factors.factors[1].is_closed
    assert 2 not in factors.factors
    assert back == '[{"x", "y", ?}]'


def test_the_minor_most_factor_takes_axes_that_do_not_divide_it() -> None:
    mesh = Mesh({"x": 3}, name="m")
    factors, _ = project("([i])->([i]) {i=4}", '[{"x"}]', mesh)
    assert axes(factors, 0) == '"x"'
    assert not factors.factors[0].overflow


def test_a_factor_after_one_that_is_not_full_is_left_out() -> None:
    mesh = Mesh({"x": 2, "y": 2}, name="m")
    rule = parse_rule("([i, j])->([ij]) {i=4, j=4}")
    factors = TensorFactors.project(
        sharding('[{"x"}, {"y"}]', mesh), rule.operands[0], rule.factor_sizes, mesh
    )
    merged = factors.to_sharding(rule.results[0], rule.factor_sizes, mesh)
    assert merged.body == '@m, [{"x"}]'


def test_replicated_and_unreduced_axes_are_kept() -> None:
    mesh = Mesh({"x": 2, "y": 2, "z": 2}, name="m")
    text = '[{"x"}], replicated={"y"}, unreduced={"z"}'
    _, back = project("([i])->([i]) {i=4}", text, mesh)
    assert back == text


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("[{}]", '[{"a"}]', True),
        ("[{}]", "[{}]", False),
        ('[{"a"}]', '[{"a"}]', False),
        ('[{"a"}]', '[{"a", "b"}]', True),
        ('[{"a":(1)2}]', '[{"a"}]', True),
        ('[{"a":(2)2}]', '[{"a"}]', False),
        ('[{"b"}]', '[{"a", "b"}]', False),
        ('[{"a", "b"}]', '[{"a"}]', False),
    ],
)
def test_strict_prefix(first: str, second: str, expected: bool) -> None:
    left, right = sharding(first), sharding(second)
    assert left is not None
    assert right is not None
    assert is_strict_prefix(left.dimensions[0].axes, right.dimensions[0].axes) is expected
