from __future__ import annotations

import pytest

from tests.unit.rules.op_text import rule_text


@pytest.mark.parametrize(
    ("operand", "result", "rule"),
    [
        ("8", "2x4", "([ij])->([i, j]) {i=2, j=4}"),
        ("2x4", "8", "([i, j])->([ij]) {i=2, j=4}"),
        ("8x3", "2x12", "([ij, k])->([i, jk]) {i=2, j=4, k=3}"),
        # Nothing in common: each side by itself, up to where both have met again.
        ("2x3x5", "3x2x5", "([i, k, m])->([j, l, m]) {i=2, j=3, k=3, l=2, m=5}"),
        ("4x6", "6x4", "([ij, ln])->([ik, mn]) {i=2, j=2, k=3, l=3, m=2, n=2}"),
        # Dimensions of size 1 have factors of their own.
        ("1x4", "2x1x2", "([i, jl])->([j, k, l]) {i=1, j=2, k=1, l=2}"),
        ("1x1", "", "([i, j])->([]) {i=1, j=1}"),
    ],
)
def test_reshape_shares_what_both_shapes_have_in_common(
    operand: str, result: str, rule: str
) -> None:
    source = f"tensor<{operand}xf32>"
    target = f"tensor<{result}xf32>" if result else "tensor<f32>"
    text = f"%0 = stablehlo.reshape %a : ({source}) -> {target}"
    assert rule_text(text, arguments=f"%a: {source}") == rule


def test_a_reshape_without_elements_has_no_rule() -> None:
    text = "%0 = stablehlo.reshape %a : (tensor<0x4xf32>) -> tensor<2x0xf32>"
    assert rule_text(text, arguments="%a: tensor<0x4xf32>") is None


def test_a_reshape_of_unknown_size_has_no_rule() -> None:
    text = "%0 = stablehlo.reshape %a : (tensor<?x4xf32>) -> tensor<2x8xf32>"
    assert rule_text(text, arguments="%a: tensor<?x4xf32>") is None


def test_broadcast_adds_dimensions_and_expands_those_of_size_one() -> None:
    text = """%0 = stablehlo.broadcast_in_dim %a, dims = [2, 0]
      : (tensor<4x1xf32>) -> tensor<8x16x4xf32>"""
    rule = rule_text(text, arguments="%a: tensor<4x1xf32>")
    assert rule == "([l, i])->([j, k, l]) {i=1, j=8, k=16, l=4}"


def test_transpose() -> None:
    text = (
        "%0 = stablehlo.transpose %a, dims = [1, 2, 0] : (tensor<2x3x5xf32>) -> tensor<3x5x2xf32>"
    )
    rule = rule_text(text, arguments="%a: tensor<2x3x5xf32>")
    assert rule == "([k, i, j])->([i, j, k]) {i=3, j=5, k=2}"


def test_reversed_dimensions_exchange_data() -> None:
    text = "%0 = stablehlo.reverse %a, dims = [1] : tensor<2x8xf32>"
    rule = rule_text(text, arguments="%a: tensor<2x8xf32>")
    assert rule == "([i, j])->([i, j]) {i=2, j=8} permutation={j}"
