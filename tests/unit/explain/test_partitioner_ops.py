"""How single ops are partitioned: what is exchanged, worked out by hand."""

from __future__ import annotations

import pytest

import sdy
from sdy.explain.partitioner.program_walk import foretell

Found = list[tuple[str, str, int]]

ROWS, COLUMNS, WHOLE, VECTOR = '[{"x"}, {}]', '[{}, {"x"}]', "[{}, {}]", '[{"x"}]'
BOTH = '[{"x"}, {"y"}]'
MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>'


def exchanged(arguments: str, body: str, result: str) -> Found:
    """Return role, kind and bytes of the exchanges of a function with one result."""
    type_ = result.partition(" ")[0]
    module = sdy.load(f"""{MESH}
    func.func @main({arguments}) -> ({result}) {{
      {body}
      return %r : {type_}
    }}""")
    return [
        (point.exchange.role, exchange.kind, exchange.bytes)
        for point in foretell(module)
        for exchange in point.exchange.exchanges
    ]


def said(dimensions: str) -> str:
    return f"sdy.sharding = #sdy.sharding_per_value<[<@mesh, {dimensions}>]>"


def split(dimensions: str) -> str:
    return f"{{sdy.sharding = #sdy.sharding<@mesh, {dimensions}>}}"


DOTS: list[tuple[str, str, str, Found]] = [
    # Rows by x: each device has what it needs.
    ('[{"x"}, {}]', "[{}, {}]", '[{"x"}, {}]', []),
    # Both are split along what is summed up: parts of [8, 16].
    ('[{}, {"y"}]', '[{"y"}, {}]', "[{}, {}]", [("sum", "all-reduce", 8 * 16 * 4)]),
    # The result has x for its rows: the right operand goes to y, of four devices, and is summed up.
    (
        '[{"x"}, {}]',
        '[{"x"}, {}]',
        '[{"x"}, {}]',
        [("operand", "collective-permute", 8 * 16 * 4), ("sum", "all-reduce", 4 * 16 * 4)],
    ),
    # Columns are by y in the result and the right operand: the left one is gathered along y.
    ('[{"x"}, {"y"}]', '[{}, {"y"}]', '[{"x"}, {"y"}]', [("operand", "all-gather", 4 * 32 * 4)]),
    # The sum is kept in parts by rows; slicing moves nothing.
    ('[{}, {"y"}]', '[{"y"}, {}]', '[{"y"}, {}]', [("sum", "all-reduce", 8 * 16 * 4)]),
]


@pytest.mark.parametrize(("left", "right", "result", "expected"), DOTS)
def test_dots(left: str, right: str, result: str, expected: Found) -> None:
    found = exchanged(
        f"%a: tensor<8x32xf32> {split(left)}, %b: tensor<32x16xf32> {split(right)}",
        f"%r = stablehlo.dot %a, %b {{{said(result)}}} : "
        "(tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>",
        f"tensor<8x16xf32> {split(result)}",
    )
    assert found == expected


def test_an_elementwise_op_wants_its_operands_as_its_result() -> None:
    assert exchanged(
        f"%a: tensor<8x8xf32> {split(ROWS)}, %b: tensor<8x8xf32> {split(COLUMNS)}",
        f"%r = stablehlo.add %a, %b {{{said(ROWS)}}} : tensor<8x8xf32>",
        f"tensor<8x8xf32> {split(ROWS)}",
    ) == [("operand", "all-to-all", 8 * 4 * 4)]


def test_operands_that_agree_are_used_as_they_are() -> None:
    by_rows, whole = split(ROWS), split(WHOLE)
    assert exchanged(
        f"%a: tensor<8x8xf32> {by_rows}, %b: tensor<8x8xf32> {by_rows}",
        f"%r = stablehlo.add %a, %b {{{said(WHOLE)}}} : tensor<8x8xf32>",
        f"tensor<8x8xf32> {whole}",
    ) == [("result", "all-gather", 8 * 8 * 4)]


def test_an_elementwise_op_without_a_rule_is_split_all_the_same() -> None:
    assert not exchanged(
        f"%a: tensor<8x4xf32> {split(ROWS)}",
        f"%r = chlo.square %a {{{said(ROWS)}}} : tensor<8x4xf32> -> tensor<8x4xf32>",
        f"tensor<8x4xf32> {split(ROWS)}",
    )


def test_a_reduction_sums_up_along_one_dimension_after_the_other() -> None:
    assert (
        exchanged(
            f"%a: tensor<8x8xf32> {split(BOTH)}",
            """%c = stablehlo.constant dense<0.0> : tensor<f32>
        %r = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [0, 1]
            : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>""",
            "tensor<f32>",
        )
        == [("sum", "all-reduce", 4)] * 2
    )


def test_a_slice_gets_a_halo_from_its_neighbour() -> None:
    # Of rows 1 to 14 the second device wants from row 8 on: it lacks none; the first one
    # wants rows 1 to 7 and has them. Of rows 2 to 15, the first wants row 8 too.
    assert exchanged(
        f"%a: tensor<16x4xf32> {split(ROWS)}",
        f"%r = stablehlo.slice %a [2:16, 0:4] {{{said(ROWS)}}} : "
        "(tensor<16x4xf32>) -> tensor<14x4xf32>",
        f"tensor<14x4xf32> {split(ROWS)}",
    ) == [("halo", "collective-permute", 4 * 4)]


def test_a_window_that_reaches_further_needs_everything() -> None:
    assert exchanged(
        f"%a: tensor<16xf32> {split(VECTOR)}",
        f"""%c = stablehlo.constant dense<0.0> : tensor<f32>
        %r = "stablehlo.reduce_window"(%a, %c) <{{
          padding = dense<[[15, 0]]> : tensor<1x2xi64>,
          window_dimensions = array<i64: 16>}}> ({{
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %s = stablehlo.add %p, %q : tensor<f32>
            stablehlo.return %s : tensor<f32>
        }}) {{{said(VECTOR)}}} : (tensor<16xf32>, tensor<f32>) -> tensor<16xf32>""",
        f"tensor<16xf32> {split(VECTOR)}",
    ) == [("operand", "all-gather", 16 * 4)]


def test_a_sort_takes_the_axes_of_its_dimension_elsewhere_and_back() -> None:
    by_columns = '[{}, {"y"}]'
    found = exchanged(
        f"%a: tensor<8x8xf32> {split(by_columns)}",
        f"""%r = "stablehlo.sort"(%a) <{{dimension = 1 : i64}}> ({{
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %s = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %s : tensor<i1>
        }}) {{{said(by_columns)}}} : (tensor<8x8xf32>) -> tensor<8x8xf32>""",
        f"tensor<8x8xf32> {split(by_columns)}",
    )
    assert found == [("operand", "all-to-all", 64), ("result", "all-to-all", 64)]


def test_a_reshape_that_can_be_split_alike_moves_nothing() -> None:
    assert (
        exchanged(
            f"%a: tensor<8x4xf32> {split(ROWS)}",
            f"%r = stablehlo.reshape %a {{{said(VECTOR)}}} : (tensor<8x4xf32>) -> tensor<32xf32>",
            f"tensor<32xf32> {split(VECTOR)}",
        )
        == []
    )


def test_a_copy_that_is_undone_costs_nothing() -> None:
    by_rows = split(ROWS)
    assert (
        exchanged(
            f"%a: tensor<8x8xf32> {by_rows}",
            "%r = sdy.reshard %a <@mesh, [{}, {}]> : tensor<8x8xf32>",
            f"tensor<8x8xf32> {by_rows}",
        )
        == []
    )


def test_a_splat_is_made_where_it_is_needed() -> None:
    assert (
        exchanged(
            f"%a: tensor<8x8xf32> {split(COLUMNS)}",
            f"""%c = stablehlo.constant dense<1.0> : tensor<f32>
            %b = stablehlo.broadcast_in_dim %c, dims = [] {{{said(ROWS)}}}
                : (tensor<f32>) -> tensor<8x8xf32>
            %r = stablehlo.add %a, %b {{{said(COLUMNS)}}} : tensor<8x8xf32>""",
            f"tensor<8x8xf32> {split(COLUMNS)}",
        )
        == []
    )


def test_kernels_that_are_not_known_get_whole_operands_but_for_batches() -> None:
    kernel = "stablehlo.custom_call @kernel(%a) {{{said}{more}}}" + (
        " : (tensor<8x8xf32>) -> tensor<8x8xf32>"
    )
    batches = ', mhlo.frontend_attributes = {num_batch_dims = "1"}'
    for more, expected in (("", [("operand", "all-gather", 8 * 8 * 4)]), (batches, [])):
        found = exchanged(
            f"%a: tensor<8x8xf32> {split(ROWS)}",
            "%r = " + kernel.format(said=said(ROWS), more=more),
            f"tensor<8x8xf32> {split(ROWS)}",
        )
        assert found == expected


LOOKUPS: list[tuple[str, str, str, Found]] = [
    # Each device looks up what it has of the rows; the rest is zero.
    ('[{"y"}, {}]', "[{}, {}]", "[{}, {}]", [("sum", "all-reduce", 4 * 8 * 4)]),
    # Columns stay where they are.
    ('[{}, {"y"}]', "[{}, {}]", '[{}, {"y"}]', []),
    # So do rows of the result, which go with the indices.
    ("[{}, {}]", '[{"y"}, {}]', '[{"y"}, {}]', []),
    # The result is whole: columns are gathered when they are looked up.
    ('[{}, {"y"}]', "[{}, {}]", "[{}, {}]", [("result", "all-gather", 4 * 8 * 4)]),
]


@pytest.mark.parametrize(("table", "indices", "result", "expected"), LOOKUPS)
def test_gathers(table: str, indices: str, result: str, expected: Found) -> None:
    found = exchanged(
        f"%t: tensor<16x8xf32> {split(table)}, %i: tensor<4x1xi32> {split(indices)}",
        f"""%r = "stablehlo.gather"(%t, %i) <{{
          dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
            start_index_map = [0], index_vector_dim = 1>,
          slice_sizes = array<i64: 1, 8>}}> {{{said(result)}}}
          : (tensor<16x8xf32>, tensor<4x1xi32>) -> tensor<4x8xf32>""",
        f"tensor<4x8xf32> {split(result)}",
    )
    assert found == expected
