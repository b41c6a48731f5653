"""Ops that need some dimensions whole: decompositions, transforms, sorts, random numbers."""

from __future__ import annotations

import pytest

from tests.unit.rules.op_text import rule_text


def test_cholesky_is_batched() -> None:
    text = "%0 = stablehlo.cholesky %a, lower = true : tensor<8x4x4xf32>"
    assert rule_text(text, arguments="%a: tensor<8x4x4xf32>") == (
        "([i, j, k])->([i, j, k]) {i=8, j=4, k=4} need_replication={j, k}"
    )


@pytest.mark.parametrize(
    ("left_side", "transpose", "mappings"),
    [
        ("true", "NO_TRANSPOSE", "([i, j, l], [i, j, k])->([i, l, k])"),
        ("true", "TRANSPOSE", "([i, l, j], [i, j, k])->([i, l, k])"),
        ("false", "NO_TRANSPOSE", "([i, l, k], [i, j, k])->([i, j, l])"),
        ("false", "ADJOINT", "([i, k, l], [i, j, k])->([i, j, l])"),
    ],
)
def test_triangular_solve(left_side: str, transpose: str, mappings: str) -> None:
    matrix = "tensor<8x4x4xf32>"
    text = f"""%0 = "stablehlo.triangular_solve"(%a, %a) <{{
        left_side = {left_side}, lower = true, unit_diagonal = false,
        transpose_a = #stablehlo<transpose {transpose}>
      }}> : ({matrix}, {matrix}) -> {matrix}"""
    rule = f"{mappings} {{i=8, j=4, k=4, l=4}} need_replication={{j, k, l}}"
    assert rule_text(text, arguments=f"%a: {matrix}") == rule


def test_a_real_transform_blocks_the_dimension_that_it_shortens() -> None:
    text = """%0 = stablehlo.fft %a, type = RFFT, length = [4, 8]
      : (tensor<2x4x8xf32>) -> tensor<2x4x5xcomplex<f32>>"""
    assert rule_text(text, arguments="%a: tensor<2x4x8xf32>") == (
        "([i, j, k])->([i, j, k]) {i=2, j=4, k=8} need_replication={j, k} blocked_propagation={k}"
    )


def sort(shape: str) -> str | None:
    text = f"""%0 = "stablehlo.sort"(%a) <{{dimension = 0 : i64}}> ({{
        ^bb0(%x: tensor<f32>, %y: tensor<f32>):
          %p = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %p : tensor<i1>
      }}) : (tensor<{shape}xf32>) -> tensor<{shape}xf32>"""
    return rule_text(text, arguments=f"%a: tensor<{shape}xf32>")


def test_a_sorted_dimension_is_blocked_if_no_other_can_be_sharded() -> None:
    assert sort("8x4") == "([i, j])->([i, j]) {i=8, j=4} need_replication={i}"
    assert sort("8x1") == (
        "([i, j])->([i, j]) {i=8, j=1} need_replication={i} blocked_propagation={i}"
    )


def test_the_state_of_random_numbers_stays_whole() -> None:
    text = """%0, %1 = stablehlo.rng_bit_generator %a, algorithm = DEFAULT
      : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x8xui32>)"""
    assert rule_text(text, arguments="%a: tensor<2xui64>") == (
        "([i])->([i], [j, k]) {i=2, j=4, k=8} need_replication={i} blocked_propagation={i}"
    )


def test_the_statistics_of_batch_normalization_go_with_the_features() -> None:
    text = """%0 = "stablehlo.batch_norm_inference"(%a, %f, %f, %f, %f) <{
        epsilon = 0.1 : f32, feature_index = 1 : i64
      }> : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
        -> tensor<8x4xf32>"""
    rule = rule_text(text, arguments="%a: tensor<8x4xf32>, %f: tensor<4xf32>")
    assert rule == "([i, j], [j], [j], [j], [j])->([i, j]) {i=8, j=4}"


ALL_GATHER = """%0 = "stablehlo.all_gather"(%a) <{
    all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  }> : (tensor<8x4xf32>) -> tensor<8x8xf32>"""
ALL_TO_ALL = """%0 = "stablehlo.all_to_all"(%a) <{
    split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64,
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
  }> : (tensor<8x4xf32>) -> tensor<4x8xf32>"""


def test_what_a_collective_exchanges_is_whole_before_and_after() -> None:
    arguments = "%a: tensor<8x4xf32>"
    assert rule_text(ALL_GATHER, arguments=arguments) == (
        "([i, j])->([i, k]) {i=8, j=4, k=8} need_replication={j, k}"
    )
    assert rule_text(ALL_TO_ALL, arguments=arguments) == (
        "([i, k])->([j, l]) {i=8, j=4, k=4, l=8} need_replication={i, j, k, l}"
    )
