from __future__ import annotations

from tests.unit.rules.op_text import rule_text


def test_operands_and_results_are_sharded_alike() -> None:
    rule = rule_text("%0 = stablehlo.add %a, %a : tensor<8x1xf32>", arguments="%a: tensor<8x1xf32>")
    assert rule == "([i, j], [i, j])->([i, j]) {i=8, j=1}"


def test_scalars_have_a_rule_without_factors() -> None:
    rule = rule_text("%0 = stablehlo.tanh %a : tensor<f32>", arguments="%a: tensor<f32>")
    assert rule == "([])->([])"


def test_a_sharding_constraint_is_elementwise() -> None:
    text = "%0 = sdy.sharding_constraint %a <@mesh, [{}, {}]> : tensor<4x8xf32>"
    rule = rule_text(text, arguments="%a: tensor<4x8xf32>")
    assert rule == "([i, j])->([i, j]) {i=4, j=8}"


def test_the_predicate_of_a_select_may_be_a_scalar() -> None:
    arguments = "%p: tensor<i1>, %q: tensor<4xi1>, %a: tensor<4xf32>"
    scalar = "%0 = stablehlo.select %p, %a, %a : tensor<i1>, tensor<4xf32>"
    whole = "%0 = stablehlo.select %q, %a, %a : tensor<4xi1>, tensor<4xf32>"
    assert rule_text(scalar, arguments=arguments) == "([], [i], [i])->([i]) {i=4}"
    assert rule_text(whole, arguments=arguments) == "([i], [i], [i])->([i]) {i=4}"


def test_a_bitcast_to_narrower_elements_adds_a_dimension_that_stays_whole() -> None:
    text = "%0 = stablehlo.bitcast_convert %a : (tensor<8xf32>) -> tensor<8x4xi8>"
    rule = rule_text(text, arguments="%a: tensor<8xf32>")
    assert rule == "([i])->([i, j]) {i=8, j=4} need_replication={j}"


def test_a_bitcast_to_wider_elements_takes_a_dimension_away() -> None:
    text = "%0 = stablehlo.bitcast_convert %a : (tensor<8x2xf16>) -> tensor<8xf32>"
    rule = rule_text(text, arguments="%a: tensor<8x2xf16>")
    assert rule == "([i, j])->([i]) {i=8, j=2} need_replication={j}"
