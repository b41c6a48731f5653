"""The sharding of a value is found where its kind of value keeps it."""

from __future__ import annotations

import pytest
from jaxlib.mlir import ir

from sdy.ir.context import make_context
from sdy.ir.indexed_module import IndexedModule
from sdy.ir.value_sharding import sharding_of

PROGRAM = """
sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                %arg1: tensor<8xf32>, %arg2: tensor<i32>) -> tensor<8xf32> {
  %add = stablehlo.add %arg0, %arg1
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<8xf32>
  %reshard = sdy.reshard %add <@mesh, [{"z"}]> : tensor<8xf32>
  %gather = sdy.all_gather [{"z"}] %reshard out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %manual = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x", "y"}]>]
      out_shardings=[<@mesh, [{"x", "z"}]>] manual_axes={"x"} (%local: tensor<4xf32>) {
    %negate = stablehlo.negate %local : tensor<4xf32>
    sdy.return %negate : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %barrier = stablehlo.optimization_barrier %manual : tensor<8xf32>
  %edge = sdy.data_flow_edge %barrier sharding=<@mesh, [{"y", "x"}]> : tensor<8xf32>
  %while:2 = stablehlo.while(%carried = %edge, %index = %arg2) : tensor<8xf32>, tensor<i32>
      attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z", "y"}]>, <@mesh, []>]>}
  cond {
    %compare = stablehlo.compare LT, %index, %index : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %compare : tensor<i1>
  } do {
    stablehlo.return %carried, %index : tensor<8xf32>, tensor<i32>
  }
  return %while#0 : tensor<8xf32>
}
"""


def operand_of(module: IndexedModule, name: str, position: int = 0) -> ir.Value:
    (op,) = module.ops(name)
    return op.operands[position]


@pytest.mark.parametrize(
    ("user", "position", "expected"),
    [
        ("stablehlo.add", 0, '{"x"}'),
        ("stablehlo.add", 1, None),
        ("sdy.reshard", 0, '{"y"}'),
        ("sdy.all_gather", 0, '{"z"}'),
        ("stablehlo.negate", 0, '{"y"}'),
        ("sdy.return", 0, None),
        ("stablehlo.optimization_barrier", 0, '{"x", "z"}'),
        ("sdy.data_flow_edge", 0, '{"y", "x"}'),
        ("stablehlo.while", 0, '{"y", "x"}'),
        ("func.return", 0, '{"z", "y"}'),
    ],
)
def test_sharding_of_an_operand(user: str, position: int, expected: str | None) -> None:
    with make_context():
        module = IndexedModule(ir.Module.parse(PROGRAM))
        sharding = sharding_of(operand_of(module, user, position), module.codec)
        assert (sharding and str(sharding.dimensions[0])) == expected


def test_an_argument_of_a_while_has_the_sharding_of_the_result() -> None:
    with make_context():
        module = IndexedModule(ir.Module.parse(PROGRAM))
        (loop,) = module.ops("stablehlo.while")
        argument = loop.regions[1].blocks[0].arguments[0]
        assert str(sharding_of(argument, module.codec)) == 'sharding<@mesh, [{"z", "y"}]>'
