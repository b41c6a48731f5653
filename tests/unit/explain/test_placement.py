"""Device placement, drawn."""

from __future__ import annotations

import sdy
from sdy.explain.placement import ids_text, placement_text, tiling_of
from tests.unit.explain.programs import MLP, function


def drawing(sharding: str, shape: str = "8x8") -> list[str]:
    program = function(
        f"%x: tensor<{shape}xf32> {{sdy.sharding = #sdy.sharding<{sharding}>}}",
        f"tensor<{shape}xf32>",
        f"return %x : tensor<{shape}xf32>",
        'sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>',
    )
    return placement_text(sdy.explain(program).value("%arg0")).splitlines()


def test_two_dimensions_are_rows_and_columns() -> None:
    assert drawing('@mesh, [{"a"}, {"b"}]') == [
        '%arg0: tensor<8x8xf32>, sharding<@mesh, [{"a"}, {"b"}]>',
        "  4 parts of 4x4, each on 2 devices",
        "  rows are dimension 0, columns are dimension 1",
        "          [0:4]   [4:8]",
        "        ┌───────┬───────┐",
        "  [0:4] │  0-1  │  2-3  │",
        "        ├───────┼───────┤",
        "  [4:8] │  4-5  │  6-7  │",
        "        └───────┴───────┘",
    ]


def test_a_value_that_is_whole_is_one_box() -> None:
    assert drawing("@mesh, [{}, {}]")[1:] == [
        "  1 part of 8x8, on 8 devices",
        "  ┌─────┐",
        "  │ 0-7 │",
        "  └─────┘",
    ]


def test_a_third_dimension_gives_a_drawing_for_each_of_its_parts() -> None:
    lines = drawing('@mesh, [{"a"}, {"b"}, {"c"}]', "4x4x4")
    assert lines.count("  dimension 0: [0:2]") == lines.count("  dimension 0: [2:4]") == 1
    assert "  [0:2] │   0   │   1   │" in lines
    assert "  [2:4] │   6   │   7   │" in lines


def test_the_rows_of_an_uneven_split_end_where_the_value_ends() -> None:
    program = function(
        "%x: tensor<6xf32>",
        "tensor<6xf32>",
        '%0 = sdy.sharding_constraint %x <@mesh, [{"model"}]> : tensor<6xf32>\n'
        "%1 = stablehlo.tanh %0 : tensor<6xf32>\nreturn %1 : tensor<6xf32>",
    )
    text = placement_text(sdy.explain(program).value("%1"))
    assert "  [4:6]   [6:6]" in text


def test_the_devices_of_each_part_are_those_of_the_sharding() -> None:
    for value in sdy.explain(MLP).values:
        tiling = tiling_of(value)
        assert tiling is not None
        assert value.sharding is not None
        slices = value.sharding.device_slices(value.shape)
        for devices in tiling.devices.values():
            assert all(slices[device] == slices[devices[0]] for device in devices)
        assert sorted(d for held in tiling.devices.values() for d in held) == sorted(slices)


def test_device_ids_are_short() -> None:
    assert ids_text((0, 1, 2, 4, 6, 7)) == "0-2,4,6-7"


def test_a_value_that_is_all_on_one_device() -> None:
    program = function(
        "%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@third, []>}",
        "tensor<8x8xf32>",
        "return %x : tensor<8x8xf32>",
        "sdy.mesh @third = <[], device_ids=[3]>",
    )
    text = placement_text(sdy.explain(program).value("%arg0"))
    assert "1 part of 8x8, on 1 device" in text
    assert "│ 3 │" in text
