"""Small programs whose explanations are told in the tests."""

from __future__ import annotations

__all__ = ["CONSTRAINED", "LOOP", "MESH", "MLP", "function"]

MESH = 'sdy.mesh @mesh = <["data"=2, "model"=4]>'


def function(arguments: str, results: str, body: str, mesh: str = MESH) -> str:
    """Return a module with one function."""
    return f"{mesh}\nfunc.func @main({arguments}) -> {results} {{\n{body}\n}}\n"


MLP = function(
    '%x: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {?}]>} loc("x"), '
    '%up: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>} loc("up"), '
    '%down: tensor<64x32xf32> loc("down")',
    "tensor<16x32xf32>",
    """
  %0 = stablehlo.dot %x, %up : (tensor<16x32xf32>, tensor<32x64xf32>) -> tensor<16x64xf32>
    loc("jit(f)/dot"("layer"("model.py":12:4)))
  %1 = stablehlo.tanh %0 : tensor<16x64xf32>
    loc("jit(f)/tanh"(callsite("act"("model.py":3:1) at "layer"("model.py":13:4))))
  %2 = stablehlo.dot %1, %down : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
    loc("jit(f)/dot"("layer"("model.py":14:4)))
  return %2 : tensor<16x32xf32>""",
)
"""The input is split by rows, one weight by columns; the other weight follows."""

CONSTRAINED = function(
    "%x: tensor<8x8xf32>",
    "tensor<8x8xf32>",
    """
  %0 = stablehlo.tanh %x : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"data"}, {}]> : tensor<8x8xf32> loc("model.py":7:1)
  %2 = stablehlo.negate %1 : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>""",
)
"""One value in the middle is constrained."""

LOOP = function(
    '%n: tensor<i32>, %x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}',
    "tensor<8xf32>",
    """
  %0:2 = stablehlo.while(%i = %n, %v = %x) : tensor<i32>, tensor<8xf32>
    cond {
      %2 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2 = stablehlo.tanh %v : tensor<8xf32>
      stablehlo.return %i, %2 : tensor<i32>, tensor<8xf32>
    }
  return %0#1 : tensor<8xf32>""",
)
"""A value goes round in a loop."""
