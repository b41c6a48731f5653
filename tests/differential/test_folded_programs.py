"""Programs that MLIR folds or clears while it does not know all attributes of their ops."""

from __future__ import annotations

import pytest

from tests.differential.comparison import ours
from tests.differential.reference import Reference

PIPELINES = (
    "builtin.module(sdy-propagation-pipeline)",
    "builtin.module(sdy-user-priority-propagate{keep-sharding-rules=true},sdy-export-pipeline)",
)
HEAD = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(
    %a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %p: tensor<4x4xi1>) -> tensor<4x4xf32> {
  %0 = stablehlo.negate %a : tensor<4x4xf32>
"""
TAIL = """
  %2 = stablehlo.dot %1, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
func.func private @g(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.negate %a : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}"""
BODIES = {
    "nothing": "%1 = stablehlo.add %0, %0 : tensor<4x4xf32>",
    "and of one value": """
  %q = stablehlo.and %p, %p : tensor<4x4xi1>
  %1 = stablehlo.select %q, %0, %a : tensor<4x4xi1>, tensor<4x4xf32>""",
    "select of one value": "%1 = stablehlo.select %p, %0, %0 : tensor<4x4xi1>, tensor<4x4xf32>",
    "transpose of nothing": """
  %1 = stablehlo.transpose %0, dims = [0, 1] : (tensor<4x4xf32>) -> tensor<4x4xf32>""",
    "convert to itself": "%1 = stablehlo.convert %0 : tensor<4x4xf32>",
    "broadcast of nothing": """
  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<4x4xf32>) -> tensor<4x4xf32>""",
    "reshape to itself": "%1 = stablehlo.reshape %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>",
    "complex of its parts": """
  %c = stablehlo.complex %0, %a : tensor<4x4xcomplex<f32>>
  %r = stablehlo.real %c : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
  %i = stablehlo.imag %c : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
  %1 = stablehlo.add %r, %i : tensor<4x4xf32>""",
    "size of a dimension": """
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<4x4xf32>) -> tensor<i32>
  %f = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
  %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
  %1 = stablehlo.add %0, %b : tensor<4x4xf32>""",
    "comparison of one value": """
  %q = stablehlo.compare EQ, %p, %p : (tensor<4x4xi1>, tensor<4x4xi1>) -> tensor<4x4xi1>
  %1 = stablehlo.select %q, %0, %a : tensor<4x4xi1>, tensor<4x4xf32>""",
    "a loop without use": """
  %w = stablehlo.while(%k = %a) : tensor<4x4xf32>
    cond {
      %s = stablehlo.slice %p [0:1, 0:1] : (tensor<4x4xi1>) -> tensor<1x1xi1>
      %t = stablehlo.reshape %s : (tensor<1x1xi1>) -> tensor<i1>
      stablehlo.return %t : tensor<i1>
    } do {
      %m = stablehlo.negate %k : tensor<4x4xf32>
      stablehlo.return %m : tensor<4x4xf32>
    }
  %1 = stablehlo.add %0, %0 : tensor<4x4xf32>""",
    "ops without use": """
  %u = stablehlo.custom_call @f(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %v = stablehlo.after_all : !stablehlo.token
  %w = stablehlo.reduce_precision %0, format = e5m10 : tensor<4x4xf32>
  %x = "stablehlo.sort"(%0) ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %c = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = call @g(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.add %0, %0 : tensor<4x4xf32>""",
    "a barrier": """
  %b:2 = stablehlo.optimization_barrier %0, %p : tensor<4x4xf32>, tensor<4x4xi1>
  %1 = stablehlo.add %b#0, %0 : tensor<4x4xf32>""",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("pipeline", PIPELINES, ids=["whole", "without import"])
def test_propagated(body: str, pipeline: str, reference: Reference) -> None:
    program = HEAD + body + TAIL
    expected = reference.run(program, pipeline)
    assert not expected.error, expected.error
    assert ours(program, pipeline).text == expected.text
