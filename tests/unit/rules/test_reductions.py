"""Reductions of whole dimensions, within windows, and scattered back."""

from __future__ import annotations

from tests.unit.rules.op_text import rule_text


def test_a_reduced_dimension_is_in_the_operand_alone() -> None:
    text = """%0 = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [1]
      : (tensor<2x8x4xf32>, tensor<f32>) -> tensor<2x4xf32>"""
    rule = rule_text(text, arguments="%a: tensor<2x8x4xf32>, %s: tensor<f32>")
    assert rule == "([i, j, k], [])->([i, k]) {i=2, j=8, k=4} reduction={j}"


def test_several_inputs_are_reduced_alike() -> None:
    text = """%0:2 = stablehlo.reduce(%a init: %s), (%a init: %s) across dimensions = [0]
      : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<f32>, tensor<f32>)
        -> (tensor<4xf32>, tensor<4xf32>)
      reducer(%x: tensor<f32>, %y: tensor<f32>) (%z: tensor<f32>, %w: tensor<f32>) {
        stablehlo.return %x, %z : tensor<f32>, tensor<f32>
      }"""
    rule = rule_text(text, arguments="%a: tensor<8x4xf32>, %s: tensor<f32>")
    assert rule == "([i, j], [i, j], [], [])->([j], [j]) {i=8, j=4} reduction={i}"


REDUCE_WINDOW = """%0 = "stablehlo.reduce_window"(%a, %s) <{
    window_dimensions = array<i64: 1, 3>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>
  }> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      stablehlo.return %x : tensor<f32>
  }) : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>"""


def test_windows_need_their_neighbours() -> None:
    arguments = "%a: tensor<4x16xf32>, %s: tensor<f32>"
    rule = "([i, j], [])->([i, j]) {i=4, j=16} permutation={j}"
    assert rule_text(REDUCE_WINDOW, arguments=arguments) == rule
    assert (
        rule_text(REDUCE_WINDOW, arguments=arguments, conservative=True)
        == rule + " blocked_propagation={j}"
    )


def test_the_source_of_a_select_and_scatter_stays_whole_along_windows() -> None:
    text = """%0 = "stablehlo.select_and_scatter"(%a, %b, %s) <{
        window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>
      }> ({
        ^bb0(%x: tensor<f32>, %y: tensor<f32>):
          %p = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %p : tensor<i1>
      }, {
        ^bb0(%x: tensor<f32>, %y: tensor<f32>):
          stablehlo.return %x : tensor<f32>
      }) : (tensor<4x16xf32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x16xf32>"""
    arguments = "%a: tensor<4x16xf32>, %b: tensor<4x8xf32>, %s: tensor<f32>"
    assert rule_text(text, arguments=arguments) == (
        "([i, k], [i, j], [])->([i, k]) {i=4, j=8, k=16} need_replication={j} permutation={k}"
    )
