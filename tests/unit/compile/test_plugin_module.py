"""The form in which compilers in plugins take a program."""

from __future__ import annotations

from sdy.compile.plugin_module import copies_to_constraints
from sdy.ir.load import load
from sdy.passes.gspmd.to_gspmd import to_gspmd

RESHARD = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> tensor<4xf32> {
  %0 = sdy.reshard %arg0 <@mesh, [{}]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def test_a_copy_becomes_a_constraint_with_its_sharding() -> None:
    module = to_gspmd(load(RESHARD))
    assert "mhlo.copy" in str(module)
    copies_to_constraints(module)
    text = str(module)
    assert "mhlo.copy" not in text
    assert '%0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{replicated}"}' in text
    assert "return %0" in text
    assert module.operation.verify()
