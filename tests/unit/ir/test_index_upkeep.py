"""After a pass the index that it has kept up to date is the one that a new walk would make."""

from __future__ import annotations

import pytest
from jaxlib.mlir import ir

from sdy.ir.context import make_context
from sdy.ir.indexed_module import IndexedModule
from sdy.passes.registry import get_pass

pytestmark = pytest.mark.filterwarnings("ignore:.*multiple call ops")

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


INNER_CALL = """
  %1 = sdy.named_computation<"named">(%0) (%x: tensor<4xf32>) {
    %4 = func.call @outer(%x) : (tensor<4xf32>) -> tensor<4xf32>
    sdy.return %4 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>"""
CALLS = """
func.func private @unused(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @used_by_unused(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = call @outer(%a) : (tensor<4xf32>) -> tensor<4xf32>
  {inner_call}
  %2:2 = call @pair(%1) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %3 = call @declared(%2#1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2#0, %3 : tensor<4xf32>, tensor<4xf32>
}
func.func private @pair(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = call @inner(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %a, %0 : tensor<4xf32>, tensor<4xf32>
}
func.func private @inner(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @outer(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @inner(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.add %0, %a : tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @used_by_unused(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
func.func @other(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
""".replace("{inner_call}", INNER_CALL)
DECLARATION = "func.func private @declared(tensor<4xf32>) -> tensor<4xf32>"
DEFINITION = """
func.func private @declared(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}"""
CALL_PASSES = (
    "sdy-constant-or-scalar-splitter",
    "symbol-dce",
    "sdy-flatten-call-graph",
    "sdy-import-func-calls",
    "sdy-pre-order-funcs",
    "sdy-export-named-computations",
    "sdy-unflatten-call-graph",
    "symbol-dce",
    "sdy-insert-func-call-reshards",
)


@pytest.mark.parametrize("start", range(4))
@pytest.mark.parametrize("count", range(1, len(CALL_PASSES) + 1))
def test_index_after_passes_on_calls(start: int, count: int) -> None:
    with make_context(), ir.Location.unknown():
        module = IndexedModule(ir.Module.parse(CALLS + DEFINITION))
        assert module.in_order
        for name in CALL_PASSES[start:count]:
            get_pass(name)().run(module)
        assert module.in_order == IndexedModule(module.module).in_order


@pytest.mark.parametrize("name", CALL_PASSES)
def test_calls_need_no_new_walk(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = CALLS.replace(INNER_CALL, "%1 = stablehlo.abs %0 : tensor<4xf32>")
    with make_context(), ir.Location.unknown():
        module = IndexedModule(ir.Module.parse(program + DEFINITION))
        for before in CALL_PASSES[: CALL_PASSES.index(name)]:
            get_pass(before)().run(module)
        expected = IndexedModule(module.module)
        assert module.in_order == expected.in_order
        monkeypatch.setattr("sdy.ir.indexed_module.ops_below", None)
        get_pass(name)().run(module)
        assert module.in_order


def test_symbol_dce_with_other_references() -> None:
    program = CALLS + DEFINITION
    attribute = "{refers_to = [@used_by_unused]}"
    program = program.replace("add %0, %a :", f"add %0, %a {attribute} :")
    with make_context(), ir.Location.unknown():
        module = IndexedModule(ir.Module.parse(program))
        for name in CALL_PASSES[:2]:
            get_pass(name)().run(module)
        assert module.references == frozenset({"used_by_unused"})
        names = {ir.StringAttr(op.attributes["sym_name"]).value for op in module.ops("func.func")}
        assert names == {"main", "pair", "inner", "outer", "used_by_unused", "declared", "other"}
        assert module.in_order == IndexedModule(module.module).in_order


def test_references_that_are_no_identifiers() -> None:
    attribute = '{refers_to = @"not an identifier"}'
    program = CALLS.replace("negate %a :", f"negate %a {attribute} :") + DECLARATION
    with make_context(), ir.Location.unknown():
        module = IndexedModule(ir.Module.parse(program))
        module.read_references()
        assert module.references is None


def test_references_are_forgotten_with_the_index() -> None:
    with make_context(), ir.Location.unknown():
        module = IndexedModule(ir.Module.parse(CALLS + DECLARATION))
        module.read_references()
        assert module.references == frozenset()
        module.ops_changed("sdy.mesh")
        assert module.references == frozenset()
        module.ops_changed()
        assert module.references is None
