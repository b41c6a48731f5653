"""The structure that passes hand on is the one that reading the module anew would give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from jaxlib.mlir import ir

from sdy.ir.attributes import SHARDING
from sdy.ir.context import make_context
from sdy.ir.indexed_module import IndexedModule
from sdy.ir.structure import read_structure
from sdy.passes.registry import get_pass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sdy.ir.structure import Structure

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

PROGRAMS = {
    "shared constant": SHARED_CONSTANT,
    "unused constants": UNUSED_CONSTANTS,
    "scalars": SCALARS,
    "groups and regions": GROUPS_AND_REGIONS,
    "calls": CALLS,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_after_splitting_constants(program: str) -> None:
    with make_context(), ir.Location.unknown():
        module = IndexedModule(ir.Module.parse(program))
        before = module.structure
        get_pass("sdy-constant-or-scalar-splitter")().run(module)
        after = module.structure
        assert after is not before
        assert_alike(after, read_structure(module.operation))
        assert [op.name for op in module.numbered_ops] == after.names


def assert_alike(found: Structure, expected: Structure) -> None:
    """Assert that two structures are the same but for how they number values and attributes."""
    assert found.names == expected.names
    assert found.parents == expected.parents
    assert found.ends == expected.ends
    numbers = dict(zip(values_of(found), values_of(expected), strict=True))
    assert len(numbers) == len(found.types) == len(set(numbers.values()))
    renumbered = [tuple(numbers[v] for v in operands) for operands in found.operands]
    assert renumbered == expected.operands
    for value, number in numbers.items():
        assert found.uses(value) == expected.uses(number)
        assert found.users[value] == expected.users[number]
        assert found.producers[value] == expected.producers[number]
    assert_finer(((found.types[v], expected.types[n]) for v, n in numbers.items()))
    assert_finer(zip(found.attributes, expected.attributes, strict=True))
    properties = zip(found.names, found.properties, expected.properties, strict=True)
    assert_finer(((name, number), other) for name, number, other in properties)


def values_of(structure: Structure) -> list[int]:
    """Return the arguments and results in an order that their numbers have no part in."""
    places = sorted((place, value) for value, place in structure.arguments.items())
    return [*(value for _, value in places), *(v for each in structure.results for v in each)]


def assert_finer(pairs: Iterable[tuple[object, object]]) -> None:
    """Assert that what is equal in the first place is so in the second."""
    seen: dict[object, object] = {}
    for first, second in pairs:
        assert seen.setdefault(first, second) == second


SHARDED = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<4xf32>
  %0 = stablehlo.add %a, %c : tensor<4xf32>
  %unused = stablehlo.negate %a : tensor<4xf32>
  %1 = stablehlo.add %0, %c : tensor<4xf32>
  %2 = stablehlo.negate %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<4xf32>
  return %2 : tensor<4xf32>
}"""
PASSES = (
    "sdy-lift-inlined-meshes",
    "sdy-constant-or-scalar-splitter",
    "sdy-user-priority-propagate",
    "sdy-constant-or-scalar-merger",
    "sdy-sharding-constraint-to-reshard",
    "sdy-close-shardings",
    "sdy-drop-sharding-rules",
)


@pytest.mark.parametrize("count", range(1, len(PASSES) + 1))
def test_attributes_of_ops(count: int) -> None:
    with make_context(), ir.Location.unknown():
        module = IndexedModule(ir.Module.parse(SHARDED))
        for name in PASSES[:count]:
            get_pass(name)().run(module)
        found = [(op, attribute) for _, op, attribute in module.attributes_of_ops(SHARDING)]
        assert found == [
            (op, op.attributes[SHARDING])
            for _, op in IndexedModule(module.module).in_order
            if SHARDING in op.attributes
        ]
        assert len(found) > 0
