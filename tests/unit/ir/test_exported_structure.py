"""The structure that passes behind propagation hand on is the one that reading anew would give."""

from __future__ import annotations

import pytest
from jaxlib.mlir import ir

from sdy.ir.context import make_context
from sdy.ir.indexed_module import IndexedModule
from sdy.ir.rows import packed
from sdy.ir.structure import read_structure
from sdy.passes.pass_manager import run_step
from sdy.passes.pipeline import parse_pipeline
from tests.unit.ir.test_structure_upkeep import assert_alike

CALLS = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(
    %a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x4xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<4x4xf32>
  %0 = call @outer(%a, %c) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.multiply %0, %c : tensor<4x4xf32>
  %2 = call @outer(%0, %1) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = stablehlo.dot %2, %0 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}
func.func private @outer(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0:2 = call @inner(%x) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  %1 = stablehlo.add %0#0, %x : tensor<4x4xf32>
  %2 = stablehlo.add %1, %y : tensor<4x4xf32>
  %3 = stablehlo.add %2, %x : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}
func.func private @inner(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0]
      : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.negate %x : tensor<4x4xf32>
  return %1, %0 : tensor<4x4xf32>, tensor<4xf32>
}"""
LOOP = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  %i = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%k = %i, %x = %a) : tensor<i32>, tensor<4xf32>
    cond {
      %n = stablehlo.constant dense<3> : tensor<i32>
      %1 = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %1 = stablehlo.add %k, %one : tensor<i32>
      %2 = func.call @body(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      stablehlo.return %1, %2 : tensor<i32>, tensor<4xf32>
    }
  return %0#1 : tensor<4xf32>
}
func.func private @body(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""
EXPORT = "sdy-export-named-computations"


@pytest.mark.parametrize("program", [CALLS, LOOP], ids=["calls", "loop"])
@pytest.mark.parametrize("writes_late", [False, True])
def test_after_export_of_named_computations(program: str, writes_late: bool) -> None:
    with make_context(), ir.Location.unknown():
        module = IndexedModule(ir.Module.parse(program), writes_late=writes_late)
        for step in parse_pipeline("builtin.module(sdy-propagation-pipeline)").steps:
            run_step(step, module)
            if step.name == EXPORT:
                break
        structure, reordered = module.last_structure, module.changes.reordered
        assert "func.call" in structure.names
        # What passes have set since it was read it does not tell.
        structure.attributes = packed(range(len(structure.names)))
        assert_alike(structure, read_structure(module.operation), reordered)
        assert [op.name for op in module.numbered_ops] == structure.names


@pytest.mark.parametrize("program", [CALLS, LOOP], ids=["calls", "loop"])
def test_numbers_stay_those_of_the_ops(program: str) -> None:
    with make_context(), ir.Location.unknown():
        module = IndexedModule(ir.Module.parse(program), writes_late=True)
        for step in parse_pipeline("builtin.module(sdy-propagation-pipeline)").steps:
            run_step(step, module)
            if not module.is_numbered:
                continue
            names, ops = module.last_structure.names, module.numbered_ops
            left = [n for n in range(len(names)) if n not in module.changes.erased]
            assert [ops[n].name for n in left] == [names[n] for n in left], step.name
            expected = IndexedModule(module._module).in_order
            assert [(names[n], ops[n]) for n in left] == expected, step.name
