"""Our `canonicalize` and the reference's give the same text, locations and orders of uses."""

from __future__ import annotations

import pytest
from jaxlib.mlir import ir

from sdy.ir.context import make_context
from sdy.ir.indexed_module import IndexedModule
from sdy.passes.canonicalize.canonicalize import Canonicalize
from sdy.passes.options import make_pass
from tests.differential.collective_programs import random_program
from tests.differential.reference import Reference, Snapshot, snapshot

BATCH = 50

MANUAL_COMPUTATION = """
sdy.mesh @mesh = <["a"=2]>
func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.add %arg0, %arg1 : tensor<8xf32>
  %1:2 = sdy.manual_computation(%arg0, %0, %arg1, %arg0, %0)
      in_shardings=[<@mesh, [{"a"}]>, <@mesh, [{"a"}]>, <@mesh, [{"a"}]>,
                    <@mesh, [{}]>, <@mesh, [{"a"}]>]
      out_shardings=[<@mesh, [{"a"}]>, <@mesh, [{"a"}]>] manual_axes={"a"}
      (%arg2: tensor<4xf32>, %arg3: tensor<4xf32>, %arg4: tensor<4xf32>,
       %arg5: tensor<8xf32>, %arg6: tensor<4xf32>) {
    %4 = stablehlo.add %arg6, %arg2 : tensor<4xf32>
    sdy.return %4, %arg6 : tensor<4xf32>, tensor<4xf32>
  } {tag = "kept"} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
      -> (tensor<8xf32>, tensor<8xf32>)
  %2 = stablehlo.add %0, %arg0 : tensor<8xf32>
  %3 = stablehlo.add %1#1, %1#0 : tensor<8xf32>
  return %2, %3 : tensor<8xf32>, tensor<8xf32>
}
"""

# The reference inlines a manual computation into any op but a function: there its own tool loads
# an extension that jaxlib does not.
INLINED = """
sdy.mesh @mesh = <["a"=2, "b"=1]>
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.named_computation<"outer">(%arg0) (%arg1: tensor<8xf32>) {
    %1 = stablehlo.negate %arg1 : tensor<8xf32>
    %2:2 = sdy.manual_computation(%arg1, %1) in_shardings=[<@mesh, [{"b", "a"}]>, <@mesh, [{"b"}]>]
        out_shardings=[<@mesh, [{"b"}]>, <@mesh, [{"b"}]>] manual_axes={"b"}
        (%arg2: tensor<8xf32>, %arg3: tensor<8xf32>) {
      %4 = stablehlo.add %arg3, %arg2 : tensor<8xf32>
      %5 = sdy.reshard %4 <@mesh, [{"a"}]> : tensor<8xf32>
      %6 = sdy.reshard %5 <@mesh, [{}]> : tensor<8xf32>
      sdy.return %6, %arg2 : tensor<8xf32>, tensor<8xf32>
    } : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    %3 = stablehlo.add %2#1, %2#0 : tensor<8xf32>
    sdy.return %3 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


def ours(program: str, options: str) -> Snapshot:
    with make_context():
        module = ir.Module.parse(program)
        make_pass(Canonicalize, options).run(IndexedModule(module))
        module.operation.verify()
        return snapshot(module)


def assert_same(program: str, options: str, reference: Reference) -> None:
    expected = reference.run(program, f"builtin.module(canonicalize{{{options}}})")
    assert not expected.error, program
    assert ours(program, options) == expected, program


@pytest.mark.parametrize("batch", range(10))
def test_random_programs(batch: int, reference: Reference) -> None:
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        assert_same(random_program(seed), "", reference)


@pytest.mark.parametrize(
    "options",
    [
        "enable-patterns=sdy-reshard",
        "enable-patterns=sdy-collective",
        "enable-patterns=sdy-reshard,sdy-collective",
        "enable-patterns=none",
        "disable-patterns=sdy-collective",
        "top-down=false",
        "region-simplify=disabled",
        "max-iterations=1",
        "filter-dialects=stablehlo,sdy",
    ],
)
def test_options(options: str, reference: Reference) -> None:
    for seed in range(BATCH):
        assert_same(random_program(seed), options, reference)


@pytest.mark.parametrize("program", [MANUAL_COMPUTATION, INLINED], ids=["unused", "inlined"])
def test_manual_computations(program: str, reference: Reference) -> None:
    assert_same(program, "", reference)
