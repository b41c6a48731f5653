"""What `sdy-insert-explicit-reshards` refuses, and where it is more careful than Shardy's."""

from __future__ import annotations

import pytest
from jaxlib.mlir import ir

from sdy.dialect.errors import Error
from sdy.ir.context import make_context
from sdy.passes.pipeline import run_pipeline

MESHES = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @other = <["y"=4]>
"""
FULL = "builtin.module(func.func(sdy-insert-explicit-reshards{enable-full-version=true}))"


def run(function: str, pipeline: str = FULL) -> str:
    with make_context():
        module = ir.Module.parse(MESHES + function)
        run_pipeline(module, pipeline)
        return str(module)


def test_results_must_have_the_same_unreduced_axes() -> None:
    with pytest.raises(Error, match=r"5:\d+: error: the results .* different unreduced axes"):
        run("""func.func @main(%a: tensor<4xf32>, %i: tensor<4xi32>) {
          %0:2 = "stablehlo.sort"(%a, %i) <{dimension = 0 : i64}> ({
          ^bb0(%x: tensor<f32>, %y: tensor<f32>, %m: tensor<i32>, %n: tensor<i32>):
            %1 = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %1 : tensor<i1>
          }) {sdy.sharding =
            #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>, <@mesh, [{}]>]>}
            : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>)
          return
        }""")


def test_a_tensor_with_unreduced_axes_stays_on_its_mesh() -> None:
    with pytest.raises(Error, match="used on another mesh"):
        run("""func.func @main(
            %a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
          %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@other, [{}]>]>}
            : tensor<4xf32>
          return
        }""")


def test_operands_must_agree_on_what_is_reduced() -> None:
    function = """func.func @main(
            %a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
            %b: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) {
          %0 = stablehlo.dot %a, %b {sdy.sharding =
            #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>}
            : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
          return
        }"""
    with pytest.raises(Error, match="operands differ in what is reduced"):
        run(function, "builtin.module(func.func(sdy-insert-explicit-reshards))")


def test_an_axis_that_is_used_is_replicated_no_longer() -> None:
    """Shardy leaves "x" among the replicated axes too, which is not valid."""
    text = run("""func.func @main(
            %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
          %0 = stablehlo.negate %a {sdy.sharding =
            #sdy.sharding_per_value<[<@mesh, [{"y"}], replicated={"x"}>]>} : tensor<8xf32>
          return %0 : tensor<8xf32>
        }""")
    assert "stablehlo.negate %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{" in text
    assert '<[<@mesh, [{"x"}]>]>' in text
    assert 'sdy.reshard %0 <@mesh, [{"y"}], replicated={"x"}>' in text
