"""`sdy.propagate` and its options."""

from __future__ import annotations

import pytest

import sdy
from sdy.passes.pipeline import run_pipeline

# The dimension of size 2 takes half of the axis, and the other dimension the other half.
SPLIT = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(
    %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<2x4xf32> {
  %0 = stablehlo.reshape %a : (tensor<8xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
"""

CONTRACTED = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(
    %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
    %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.dot %a, %b : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
"""


def shardings(program: str, **options: object) -> dict[str, str]:
    module = sdy.propagate(program, **options)  # type: ignore[arg-type]
    return {value.name: str(value.sharding) for value in sdy.shardings(module)}


def test_results_are_not_split_along_parts_of_axes() -> None:
    assert shardings(SPLIT)["@main result 0"] == "sharding<@mesh, [{}, {}]>"


def test_results_may_be_split_along_parts_of_axes() -> None:
    allowed = shardings(SPLIT, sub_axes_in_io="allow")
    assert allowed["@main result 0"] == 'sharding<@mesh, [{"x":(1)2}, {"x":(2)2}]>'


def test_the_inside_of_a_program_is_split_either_way() -> None:
    for value in ("remove", "allow"):
        found = shardings(SPLIT, sub_axes_in_io=value)
        assert found["%0"] == 'sharding<@mesh, [{"x":(1)2}, {"x":(2)2}]>'


def test_an_unknown_choice_is_refused() -> None:
    with pytest.raises(sdy.Error, match="must be 'remove' or 'allow', got 'perhaps'"):
        shardings(SPLIT, sub_axes_in_io="perhaps")


def test_a_program_says_where_it_communicates() -> None:
    silent = str(sdy.propagate(CONTRACTED))
    explicit = str(sdy.propagate(CONTRACTED, explicit_collectives=True))
    assert 'sdy.all_reduce {"x"}' in explicit
    assert "sdy.all_reduce" not in silent


def test_an_edge_of_calls_is_refused_where_calls_are_imported() -> None:
    program = """
        func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
          %0 = call @f(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
          %1 = sdy.func_data_flow_edge %0 : tensor<8xf32>
          return %1 : tensor<8xf32>
        }
        func.func private @f(%arg0: tensor<8xf32>) -> tensor<8xf32> {
          return %arg0 : tensor<8xf32>
        }
    """
    with pytest.raises(sdy.Error, match=r"4:16: error: .*to be a result of call op"):
        sdy.propagate(program)


OF_TWO_RANKS = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(
    %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32>,
    %c: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8x8xf32>) {
  sdy.sharding_group %a group_id=0 : tensor<8xf32>
  sdy.sharding_group %b group_id=0 : tensor<8xf32>
  sdy.sharding_group %c group_id=0 : tensor<8x8xf32>
  %0 = stablehlo.negate %b : tensor<8xf32>
  %1 = stablehlo.negate %c : tensor<8x8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8x8xf32>
}
"""


def test_values_of_other_ranks_in_a_group_are_not_sharded_alike() -> None:
    # The import pipeline refuses such a group; the pass may be run without it.
    module = sdy.load(OF_TWO_RANKS)
    with pytest.warns(sdy.ShardingWarning, match="group 0 has values of different ranks"):
        run_pipeline(module, "builtin.module(sdy-basic-propagate)")
    found = {value.name: str(value.sharding) for value in sdy.shardings(module)}
    assert found["%0"] == 'sharding<@mesh, [{"x", ?}]>'
    assert found["%1"] == "None"
