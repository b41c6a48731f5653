"""Dots in groups of devices: what is exchanged and what XLA warns of, worked out by hand."""

from __future__ import annotations

import numpy as np

import sdy
from sdy.explain.partitioner.grouped_tiling import (
    grouped_by_replicas,
    grouped_on,
    matching_dimensions,
)
from sdy.explain.partitioner.held_tensor import sharding_of_tiling
from sdy.explain.partitioner.program_walk import foretell
from sdy.explain.partitioner.tiling import Tiling, tiling_of

MESH = sdy.Mesh({"x": 2, "y": 4}, name="mesh")
GRID = Tiling.of([2, 4], np.arange(8))


def batched_dot(left: str, right: str, result: str) -> list[tuple[str, str, list[str], bool]]:
    """Return the role, the sharding after, the kinds and the warning of each step of a dot."""
    shardings = {
        name: f"sdy.sharding = #sdy.sharding<@mesh, {dims}>"
        for name, dims in (("a", left), ("b", right), ("r", result))
    }
    module = sdy.load(f"""sdy.mesh {MESH}
    func.func @main(%a: tensor<8x16x32xf32> {{{shardings["a"]}}},
        %b: tensor<8x32x16xf32> {{{shardings["b"]}}})
        -> (tensor<8x16x16xf32> {{{shardings["r"]}}}) {{
      %r = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1]
        {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, {result}>]>}}
        : (tensor<8x16x32xf32>, tensor<8x32x16xf32>) -> tensor<8x16x16xf32>
      return %r : tensor<8x16x16xf32>
    }}""")
    return [
        (
            exchange.role,
            exchange.to.body.removeprefix("@mesh, "),
            [each.kind for each in exchange.exchanges],
            exchange.is_full_rematerialization,
        )
        for exchange in (point.exchange for point in foretell(module))
    ]


def test_tensors_that_agree_on_batches_and_sums_leave_parts_alone() -> None:
    found = batched_dot('[{"x"}, {}, {"y"}]', '[{"x"}, {"y"}, {}]', '[{"x"}, {}, {}]')
    assert found == [("sum", '[{"x"}, {}, {}]', ["all-reduce"], False)]


def test_an_operand_is_brought_to_the_batches_of_the_others() -> None:
    found = batched_dot('[{"y"}, {}, {}]', '[{}, {}, {"y"}]', '[{"y"}, {}, {}]')
    assert found == [("operand", '[{"y"}, {}, {}]', ["all-to-all"], False)]


def test_operands_in_conflict_with_the_batches_are_brought_to_them_and_one_is_gathered() -> None:
    found = batched_dot('[{"y"}, {"x"}, {}]', '[{}, {}, {"y"}]', '[{"x"}, {}, {}]')
    assert found == [
        (
            "operand",
            '[{"x"}, {}, {}]',
            ["collective-permute", "all-gather", "all-gather"],
            False,
        ),
        ("operand", '[{"x"}, {}, {}]', ["all-gather"], True),
    ]


def test_a_dot_of_vectors_is_one_number() -> None:
    split = 'sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>'
    module = sdy.load(f"""sdy.mesh {MESH}
    func.func @main(%a: tensor<16xf32> {{{split}}}, %b: tensor<16xf32> {{{split}}})
        -> tensor<f32> {{
      %r = stablehlo.dot %a, %b : (tensor<16xf32>, tensor<16xf32>) -> tensor<f32>
      return %r : tensor<f32>
    }}""")
    (point,) = foretell(module)
    (exchange,) = point.exchange.exchanges
    assert (exchange.kind, exchange.bytes, exchange.group_size) == ("all-reduce", 4, 4)


def test_a_dot_in_a_manual_body_stays_among_the_devices_of_its_place() -> None:
    """Rows have y, so the right operand gives it up; it must not take x, which is manual."""
    split = 'sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>'
    module = sdy.load(f"""sdy.mesh {MESH}
    func.func @main(%a: tensor<32x16xf32>, %b: tensor<16x16xf32>) -> tensor<32x16xf32> {{
      %0 = sdy.manual_computation(%a, %b)
          in_shardings=[<@mesh, [{{"x"}}, {{}}]>, <@mesh, [{{}}, {{}}]>]
          out_shardings=[<@mesh, [{{"x"}}, {{}}]>] manual_axes={{"x"}}
          (%c: tensor<16x16xf32>, %d: tensor<16x16xf32>) {{
        %1 = stablehlo.tanh %c {{{split}}} : tensor<16x16xf32>
        %2 = stablehlo.tanh %d {{{split}}} : tensor<16x16xf32>
        %3 = stablehlo.dot %1, %2 {{{split}}}
            : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
        sdy.return %3 : tensor<16x16xf32>
      }} : (tensor<32x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
      return %0 : tensor<32x16xf32>
    }}""")
    found = [
        (exchange.kind, exchange.bytes, exchange.groups)
        for point in foretell(module)
        if point.op.name == "stablehlo.dot"
        for exchange in point.exchange.exchanges
    ]
    assert found == [("all-gather", 16 * 16 * 4, ((0, 1, 2, 3), (4, 5, 6, 7)))]


def test_groups_and_what_is_in_them_make_the_tiling() -> None:
    grouped = grouped_on(GRID, [1])
    assert grouped.groups == ((0, 4), (1, 5), (2, 6), (3, 7))
    assert grouped.inner == Tiling.of([2, 1], np.arange(2))
    assert grouped.ungrouped() == GRID
    assert grouped.part_shape([16, 16]) == (16, 4)


def test_groups_of_other_devices_are_taken_over() -> None:
    other = grouped_on(Tiling.of([4, 2], np.arange(8)), [0])
    mine = grouped_on(GRID, [1])
    aligned = mine.aligned(other)
    assert not mine.has_groups_of(other)
    assert aligned.groups == other.groups == ((0, 1), (2, 3), (4, 5), (6, 7))
    assert aligned.ungrouped() == Tiling.of([2, 4], np.asarray([0, 2, 4, 6, 1, 3, 5, 7]))


def test_devices_keep_their_tiles_where_groups_differ_in_order_alone() -> None:
    mine = grouped_on(GRID, [1])
    turned = grouped_on(GRID.reversed([0]), [1])
    assert turned.groups[0] == (4, 0)
    assert turned.aligned(mine).ungrouped() == GRID.reversed([0])


def test_replicas_make_groups_where_each_has_all_tiles() -> None:
    partial = tiling_of(sdy.parse_sharding('<@mesh, [{"x"}, {}]>', MESH))
    columns = grouped_on(GRID, [1]).groups
    found = grouped_by_replicas(partial, columns)
    assert found is not None
    assert found.ungrouped() == partial
    assert grouped_by_replicas(partial, grouped_on(GRID, [0]).groups) is None


def test_dimensions_are_found_by_their_groups() -> None:
    assert matching_dimensions(GRID, grouped_on(GRID, [0]).groups) == (0,)
    assert matching_dimensions(GRID, ((0, 5), (1, 4), (2, 7), (3, 6))) is None


def test_a_tiling_is_said_by_axes_where_they_can() -> None:
    sharding = sdy.parse_sharding('<@mesh, [{"y"}, {"x"}]>', MESH)
    assert sharding_of_tiling(tiling_of(sharding), MESH) == sharding
    assert sharding_of_tiling(Tiling.of([8], np.asarray([0, 3, 1, 2, 4, 7, 5, 6])), MESH) is None
