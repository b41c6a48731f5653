"""What an executable says of memory and cost."""

from __future__ import annotations

from unittest.mock import Mock

from sdy.compile.analysis import Cost, Memory, read_cost
from sdy.compile.compiler import compile as compile_program

MATMUL = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(
    %arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %arg1: tensor<16x4xf32>)
    -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot %arg0, %arg1
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
      : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
"""


def test_figures_are_those_of_one_device() -> None:
    program = compile_program(MATMUL, "cpu:8")
    memory, cost = program.memory(), program.cost()
    assert memory.arguments == 4 * (4 * 16 + 16 * 4)
    assert memory.results == 4 * 4 * 4
    assert cost.flops == 2 * 4 * 16 * 4
    assert cost.bytes_accessed == memory.arguments + memory.results


def test_aliased_results_need_no_memory_of_their_own() -> None:
    assert Memory(arguments=8, results=4, aliased=4, temporaries=2, code=1).total == 11


def test_xlas_general_analysis_stands_in_where_the_compiler_has_none() -> None:
    compiled = Mock()
    compiled.hlo_modules.return_value = compile_program(MATMUL, "cpu:8")._compiled.hlo_modules()
    compiled.cost_analysis.side_effect = RuntimeError("UNIMPLEMENTED")
    assert read_cost(compiled) == Cost(flops=512.0, bytes_accessed=576.0, seconds=None)
