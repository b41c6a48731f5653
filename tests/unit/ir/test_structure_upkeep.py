"""The structure that passes hand on is the one that reading the module anew would give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from jaxlib.mlir import ir

from sdy.ir.context import make_context
from sdy.ir.indexed_module import IndexedModule
from sdy.ir.op_index import ops_below
from sdy.ir.structure import read_structure
from sdy.passes.registry import get_pass
from sdy.passes.symbol_dce import SymbolDce
from tests.differential.pass_lists import IMPORT_WITH_CALLS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from sdy.ir.structure import Body, Structure

SHARED_CONSTANT = """
func.func @main(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %c = stablehlo.constant dense<1.0> : tensor<4x4xf32>
  %d = stablehlo.add %c, %c : tensor<4x4xf32>
  %0 = stablehlo.multiply %a, %d : tensor<4x4xf32>
  %1 = stablehlo.multiply %0, %d : tensor<4x4xf32>
  return %1, %c : tensor<4x4xf32>, tensor<4x4xf32>
}"""
UNUSED_CONSTANTS = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<4xf32>
  %i = stablehlo.iota dim = 0 : tensor<4xf32>
  %d = stablehlo.add %c, %i : tensor<4xf32>
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""
SCALARS = """
func.func @main(%s: tensor<f32>, %a: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %b = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %t = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %0 = stablehlo.multiply %a, %b : tensor<4xf32>
  %1 = stablehlo.multiply %0, %b : tensor<4xf32>
  %2 = stablehlo.multiply %1, %t : tensor<4xf32>
  %3 = stablehlo.multiply %2, %t : tensor<4xf32>
  %4 = stablehlo.add %s, %c : tensor<f32>
  %5 = stablehlo.add %4, %c : tensor<f32>
  return %3, %5 : tensor<4xf32>, tensor<f32>
}"""
GROUPS_AND_REGIONS = """
func.func @main(%a: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<4xf32>
  sdy.sharding_group %c group_id=0 : tensor<4xf32>
  %0:2 = stablehlo.while(%i = %n, %x = %a) : tensor<i32>, tensor<4xf32>
    cond {
      %z = stablehlo.constant dense<0> : tensor<i32>
      %2 = stablehlo.compare LT, %i, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2 = stablehlo.add %x, %c : tensor<4xf32>
      stablehlo.return %i, %2 : tensor<i32>, tensor<4xf32>
    }
  %1 = stablehlo.add %0#1, %c : tensor<4xf32>
  return %1 : tensor<4xf32>
}"""
CALLS = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<4xf32>
  %d = call @outer(%c) : (tensor<4xf32>) -> tensor<4xf32>
  %0 = stablehlo.multiply %a, %d : tensor<4xf32>
  %1 = stablehlo.multiply %0, %d : tensor<4xf32>
  %2 = stablehlo.multiply %1, %d : tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func private @outer(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @inner(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.add %0, %x : tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""

CONSTRAINTS = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<4x4xf32>, %n: tensor<i32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = stablehlo.negate %a : tensor<4x4xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<4x4xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{}, {"y"}]> : tensor<4x4xf32>
  %3 = stablehlo.add %0, %0 : tensor<4x4xf32>
  %4:2 = stablehlo.while(%i = %n, %x = %3) : tensor<i32>, tensor<4x4xf32>
    cond {
      %c = stablehlo.constant dense<0> : tensor<i32>
      %7 = stablehlo.compare LT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %7 : tensor<i1>
    } do {
      %7 = stablehlo.tanh %x : tensor<4x4xf32>
      %8 = sdy.sharding_constraint %x <@mesh, [{"y"}, {"x"}]> : tensor<4x4xf32>
      %9 = stablehlo.add %7, %8 : tensor<4x4xf32>
      stablehlo.return %i, %9 : tensor<i32>, tensor<4x4xf32>
    }
  %5 = stablehlo.exponential %4#1 : tensor<4x4xf32>
  %6 = sdy.sharding_constraint %4#1 <@mesh, [{"x"}, {"y"}]> : tensor<4x4xf32>
  return %5, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}"""
SHARED_FUNCTIONS = """
sdy.mesh @mesh = <["x"=2]>
sdy.mesh @same = <["x"=2]>
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @outer(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @outer(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.add %1, %0 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func private @inner(%x: tensor<4xf32>)
    -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@same, [{"x"}]>}) {
  %0 = stablehlo.multiply %x, %x : tensor<4xf32>
  %1 = stablehlo.add %0, %x : tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @unused(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @outer(
    %x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  %0 = call @inner(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @inner(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.add %1, %x : tensor<4xf32>
  %3 = stablehlo.add %x, %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}"""
AXES_OF_SIZE_ONE = """
sdy.mesh @mesh = <["x"=2, "y"=1]>
func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}]>})
    -> tensor<4xf32> {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>}
    : tensor<4xf32>
  %1 = stablehlo.negate %0 : tensor<4xf32>
  %2 = stablehlo.negate %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
    : tensor<4xf32>
  %3 = stablehlo.negate %2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>}
    : tensor<4xf32>
  return %3 : tensor<4xf32>
}"""
GROUPS = """
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  sdy.sharding_group %a group_id=7 : tensor<4xf32>
  sdy.sharding_group %b group_id=9 : tensor<4xf32>
  sdy.sharding_group %a group_id=9 : tensor<4xf32>
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""

PROGRAMS = {
    "shared constant": SHARED_CONSTANT,
    "unused constants": UNUSED_CONSTANTS,
    "scalars": SCALARS,
    "groups and regions": GROUPS_AND_REGIONS,
    "calls": CALLS,
    "constraints": CONSTRAINTS,
    "shared functions": SHARED_FUNCTIONS,
    "axes of size one": AXES_OF_SIZE_ONE,
    "groups": GROUPS,
}
WITH_ONE_FUNCTION_A_CALL = IMPORT_WITH_CALLS
WITH_SHARED_FUNCTIONS = (
    *IMPORT_WITH_CALLS[:8],
    "sdy-apply-sharding-constraints",
    "sdy-sharding-group-import",
    "sdy-add-func-data-flow-edges",
    "sdy-pre-order-funcs",
)


@pytest.mark.parametrize("looks", [True, False], ids=["after each", "at the end"])
@pytest.mark.parametrize("passes", [WITH_ONE_FUNCTION_A_CALL, WITH_SHARED_FUNCTIONS])
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_after_import_passes(program: str, passes: Sequence[str], looks: bool) -> None:
    with make_context(), ir.Location.unknown():
        module = IndexedModule(ir.Module.parse(program))
        before = module.structure
        for name in passes:
            if name == "symbol-dce":
                SymbolDce().run(module)
            else:
                get_pass(name)().run(module)
            assert module.has_structure, name
            if looks:
                assert_true(module)
        assert_true(module)
        assert module.structure is not before


def assert_true(module: IndexedModule) -> None:
    """Assert that the structure of a module is as it would be read, and the ops are those."""
    assert_alike(module.structure, read_structure(module.operation))
    assert module.numbered_ops == ops_below(module.module)


def assert_alike(found: Structure, expected: Structure, reordered: Collection[int] = ()) -> None:
    """Assert that two structures are the same but for how they number values and attributes."""
    assert found.names == expected.names
    assert list(found.parents) == list(expected.parents)
    assert found.ends == expected.ends
    numbers = dict(zip(values_of(found), values_of(expected), strict=True))
    assert len(numbers) == len(found.types) == len(set(numbers.values()))
    assert bodies_of(found, numbers) == bodies_of(expected, {n: n for n in numbers.values()})
    renumbered = [tuple(numbers[v] for v in operands) for operands in found.operands]
    assert renumbered == list(expected.operands)
    for value, number in numbers.items():
        uses, others = found.uses(value), expected.uses(number)
        assert uses == others or (value in reordered and sorted(uses) == sorted(others))
        assert found.users[value] == expected.users[number]
        assert found.producers[value] == expected.producers[number]
    assert_finer(((found.types[v], expected.types[n]) for v, n in numbers.items()))
    assert_finer(zip(found.attributes, expected.attributes, strict=True))
    properties = zip(found.names, found.properties, expected.properties, strict=True)
    assert_finer(((name, number), other) for name, number, other in properties)


def bodies_of(structure: Structure, numbers: Mapping[int, int]) -> dict[int, list[Body]]:
    """Return the first blocks, with other numbers for their arguments; 0 where there are none."""
    return {
        op: [(numbers[first] if count else 0, count, last) for first, count, last in bodies]
        for op, bodies in structure.bodies.items()
    }


def values_of(structure: Structure) -> list[int]:
    """Return the arguments and results in an order that their numbers have no part in."""
    places = sorted((place, value) for value, place in structure.arguments.items())
    return [*(value for _, value in places), *(v for each in structure.results for v in each)]


def assert_finer(pairs: Iterable[tuple[object, object]]) -> None:
    """Assert that what is equal in the first place is so in the second."""
    seen: dict[object, object] = {}
    for first, second in pairs:
        assert seen.setdefault(first, second) == second
