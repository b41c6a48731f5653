from __future__ import annotations

import pytest

from tests.unit.rules.op_text import rule_text


def test_rows_that_are_looked_up_are_summed_over_the_table() -> None:
    """An embedding: 100 rows of 16, looked up at 4x8 places."""
    text = """%0 = "stablehlo.gather"(%a, %i) <{
      dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0],
        start_index_map = [0], index_vector_dim = 2>,
      slice_sizes = array<i64: 1, 16>, indices_are_sorted = false
    }> : (tensor<100x16xf32>, tensor<4x8x1xi32>) -> tensor<4x8x16xf32>"""
    assert rule_text(text, arguments="%a: tensor<100x16xf32>, %i: tensor<4x8x1xi32>") == (
        "([l, k], [i, j, m])->([i, j, k]) {i=4, j=8, k=16, l=100, m=1} "
        "reduction={l} need_replication={m}"
    )


@pytest.mark.parametrize(
    ("size", "rule"),
    [
        (6, "([j], [i, k])->([i, j]) {i=3, j=6, k=1} need_replication={k}"),
        (1, "([j], [i, l])->([i, k]) {i=3, j=6, k=1, l=1} reduction={j} need_replication={k, l}"),
        (
            2,
            "([j], [i, k])->([i, j]) {i=3, j=6, k=1} "
            "need_replication={j, k} blocked_propagation={j}",
        ),
    ],
)
def test_a_dimension_that_is_gathered_whole_by_ones_or_in_part(size: int, rule: str) -> None:
    text = f"""%0 = "stablehlo.gather"(%a, %i) <{{
      dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0],
        index_vector_dim = 1>,
      slice_sizes = array<i64: {size}>, indices_are_sorted = false
    }}> : (tensor<6xf32>, tensor<3x1xi32>) -> tensor<3x{size}xf32>"""
    assert rule_text(text, arguments="%a: tensor<6xf32>, %i: tensor<3x1xi32>") == rule


def test_batching_dimensions_are_in_all_tensors() -> None:
    text = """%0 = "stablehlo.gather"(%a, %i) <{
      dimension_numbers = #stablehlo.gather<offset_dims = [], collapsed_slice_dims = [1],
        operand_batching_dims = [0], start_indices_batching_dims = [0],
        start_index_map = [1], index_vector_dim = 2>,
      slice_sizes = array<i64: 1, 1>, indices_are_sorted = false
    }> : (tensor<4x9xf32>, tensor<4x5xi32>) -> tensor<4x5xf32>"""
    assert rule_text(text, arguments="%a: tensor<4x9xf32>, %i: tensor<4x5xi32>") == (
        "([i, k], [i, j])->([i, j]) {i=4, j=5, k=9} reduction={k}"
    )


def scatter(body: str, element: str = "f32") -> str | None:
    """Return the rule of 8 updates, of rows of 16, to a table of 100 rows."""
    table, updates, scalar = (f"tensor<{s}{element}>" for s in ("100x16x", "8x16x", ""))
    text = f"""%0 = "stablehlo.scatter"(%a, %i, %u) <{{
      scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>,
      indices_are_sorted = false, unique_indices = false
    }}> ({{
      ^bb0(%x: {scalar}, %y: {scalar}):
        {body.replace("TYPE", scalar)}
    }}) : ({table}, tensor<8x1xi32>, {updates}) -> {table}"""
    return rule_text(text, arguments=f"%a: {table}, %i: tensor<8x1xi32>, %u: {updates}")


FACTORS = "([k, j], [i, l], [i, j])->([k, j]) {i=8, j=16, k=100, l=1}"
SUMMED = FACTORS + " reduction={i} need_replication={l}"
REPLICATED = FACTORS + " need_replication={i, l}"


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("%r = stablehlo.add %x, %y : TYPE stablehlo.return %r : TYPE", SUMMED),
        ("%r = stablehlo.maximum %y, %x : TYPE stablehlo.return %r : TYPE", SUMMED),
        ("%r = stablehlo.add %x, %x : TYPE stablehlo.return %r : TYPE", REPLICATED),
        ("%r = stablehlo.subtract %x, %y : TYPE stablehlo.return %r : TYPE", REPLICATED),
        ("stablehlo.return %y : TYPE", REPLICATED),
    ],
)
def test_updates_may_be_sharded_if_their_order_does_not_matter(body: str, rule: str) -> None:
    assert scatter(body) == rule


def test_and_reduces_booleans_only() -> None:
    body = "%r = stablehlo.and %x, %y : TYPE stablehlo.return %r : TYPE"
    assert scatter(body, "i1") == SUMMED
    assert scatter(body, "i32") == REPLICATED
