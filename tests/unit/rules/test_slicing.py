from __future__ import annotations

import pytest

from tests.unit.rules.op_text import rule_text

SLICE = "%0 = stablehlo.slice %a [0:8, 1:3] : (tensor<8x4xf32>) -> tensor<8x2xf32>"
PAD = """%0 = stablehlo.pad %a, %s, low = [0, 1], high = [0, 2], interior = [0, 0]
  : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x7xf32>"""
ARGUMENTS = "%a: tensor<8x4xf32>, %b: tensor<8x4xf32>, %s: tensor<f32>, %i: tensor<i32>"


def test_a_slice_moves_data_along_the_dimension_it_cuts() -> None:
    rule = "([i, j])->([i, j]) {i=8, j=4} permutation={j}"
    assert rule_text(SLICE, arguments=ARGUMENTS) == rule
    assert (
        rule_text(SLICE, arguments=ARGUMENTS, conservative=True)
        == rule + " blocked_propagation={j}"
    )


def test_a_pad_is_like_a_slice() -> None:
    rule = "([i, j], [])->([i, j]) {i=8, j=4} permutation={j}"
    assert rule_text(PAD, arguments=ARGUMENTS) == rule
    assert (
        rule_text(PAD, arguments=ARGUMENTS, conservative=True) == rule + " blocked_propagation={j}"
    )


def test_nothing_spreads_along_a_dimension_that_a_dynamic_slice_cuts() -> None:
    text = """%0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [8, 2]
      : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x2xf32>"""
    assert rule_text(text, arguments=ARGUMENTS) == (
        "([i, j], [], [])->([i, j]) {i=8, j=4} need_replication={j} blocked_propagation={j}"
    )


@pytest.mark.parametrize(
    ("producer", "needs_replication"),
    [
        ("stablehlo.constant dense<0> : tensor<i32>", False),
        ("sdy.constant dense<0> : tensor<i32>", False),
        ("stablehlo.negate %i : tensor<i32>", True),
    ],
)
def test_an_update_at_a_place_that_is_known_may_stay_sharded(
    producer: str, needs_replication: bool
) -> None:
    text = f"""
      %u = stablehlo.slice %a [0:8, 0:2] : (tensor<8x4xf32>) -> tensor<8x2xf32>
      %n = {producer}
      %0 = stablehlo.dynamic_update_slice %a, %u, %n, %n
        : (tensor<8x4xf32>, tensor<8x2xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>"""
    rule = "([i, j], [i, k], [], [])->([i, j]) {i=8, j=4, k=2}"
    if needs_replication:
        rule += " need_replication={k}"
    assert rule_text(text, arguments=ARGUMENTS) == rule


CONCATENATE = """
  %sa = stablehlo.slice %a [0:8, 0:1] : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %sb = stablehlo.slice %b [0:8, 0:1] : (tensor<8x4xf32>) -> tensor<8x1xf32>
  %0 = stablehlo.concatenate {values}, dim = 1 : ({types}) -> tensor<8x{size}xf32>"""


@pytest.mark.parametrize(
    ("values", "factor_set"),
    [
        ("%a, %b", "need_replication"),
        ("%a, %a", "need_replication"),
        ("%sa, %sb", "permutation"),
        ("%a, %sa", "permutation"),
        ("%sa, %a", "permutation"),
        ("%a, %sb", "need_replication"),
    ],
)
def test_joining_slices_moves_data_and_joining_others_gathers_it(
    values: str, factor_set: str
) -> None:
    sizes = [1 if value.startswith("%s") else 4 for value in values.split(", ")]
    types = ", ".join(f"tensor<8x{size}xf32>" for size in sizes)
    text = CONCATENATE.format(values=values, types=types, size=sum(sizes))
    assert rule_text(text, arguments=ARGUMENTS) == (
        f"([i, j], [i, j])->([i, j]) {{i=8, j={sum(sizes)}}} {factor_set}={{j}}"
    )


def test_a_conservative_concatenate_has_no_factor_along_the_joint() -> None:
    types = "tensor<8x4xf32>, tensor<8x4xf32>"
    text = CONCATENATE.format(values="%a, %b", types=types, size=8)
    assert rule_text(text, arguments=ARGUMENTS, conservative=True) == (
        "([i, j], [i, k])->([i, l]) {i=8, j=1, k=1, l=1}"
    )
