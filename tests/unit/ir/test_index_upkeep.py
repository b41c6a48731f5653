"""After a pass the index that it has kept up to date is the one that a new walk would make."""

from __future__ import annotations

import pytest
from jaxlib.mlir import ir

from sdy.ir.context import make_context
from sdy.ir.indexed_module import IndexedModule
from sdy.passes.registry import get_pass

PROGRAM = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32>, %n: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c = stablehlo.constant dense<1.0> : tensor<4xf32>
  sdy.sharding_group %c group_id=0 : tensor<4xf32>
  %0 = call @square(%c) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.add %a, %0 : tensor<4xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{"x"}]> : tensor<4xf32>
  %3:2 = stablehlo.while(%i = %n, %x = %2) : tensor<i32>, tensor<4xf32>
    cond {
      %z = stablehlo.constant dense<0> : tensor<i32>
      %4 = stablehlo.compare LT, %i, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      %4 = stablehlo.add %x, %0 : tensor<4xf32>
      %5 = sdy.sharding_constraint %4 <@mesh, [{}]> : tensor<4xf32>
      stablehlo.return %i, %5 : tensor<i32>, tensor<4xf32>
    }
  %unused = stablehlo.constant dense<1.0> : tensor<4xf32>
{named}
  %8 = stablehlo.add %5, %3#1 : tensor<4xf32>
  return %8, %0 : tensor<4xf32>, tensor<4xf32>
}
func.func private @square(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.multiply %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
NAMED_COMPUTATION = """
  %5 = sdy.named_computation<"constant">(%c) (%x: tensor<4xf32>) {
    %6 = stablehlo.constant dense<1.0> : tensor<4xf32>
    %7 = stablehlo.add %x, %6 : tensor<4xf32>
    sdy.return %7 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>"""
NEGATION = "%5 = stablehlo.negate %c : tensor<4xf32>"

PASSES = (
    "sdy-lift-inlined-meshes",
    "sdy-constant-or-scalar-splitter",
    "sdy-add-data-flow-edges",
    "sdy-apply-sharding-constraints",
    "sdy-constant-or-scalar-merger",
    "sdy-sink-data-flow-edges",
    "sdy-remove-sharding-groups",
    "sdy-sharding-constraint-to-reshard",
    "sdy-close-shardings",
    "sdy-inline-meshes",
)


@pytest.mark.parametrize("inner", [NAMED_COMPUTATION, NEGATION], ids=["named", "flat"])
@pytest.mark.parametrize("count", range(1, len(PASSES) + 1))
def test_index_after_passes(inner: str, count: int) -> None:
    program = PROGRAM.replace("{named}", inner)
    with make_context(), ir.Location.unknown():
        module = IndexedModule(ir.Module.parse(program))
        assert module.in_order
        for name in PASSES[:count]:
            get_pass(name)().run(module)
        fresh = IndexedModule(module.module)
        assert module.in_order == fresh.in_order
        for op_name, ops in fresh.ops_by_name.items():
            assert module.ops(op_name) == ops
