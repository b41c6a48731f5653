"""Printing and parsing are inverse, in both spellings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given

from sdy.dialect.parser import (
    parse_manual_axes,
    parse_mesh,
    parse_rule,
    parse_sharding,
    parse_sharding_per_value,
)
from sdy.dialect.printer import to_mlir
from sdy.dialect.sharding import ManualAxes, TensorSharding, TensorShardingPerValue
from tests.unit.dialect.strategies import MANUAL_AXES, meshes, rules, shardings

if TYPE_CHECKING:
    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding_rule import OpShardingRule


@given(meshes())
def test_meshes(mesh: Mesh) -> None:
    assert parse_mesh(str(mesh)) == mesh
    assert parse_mesh(to_mlir(mesh)) == mesh.renamed(None)
    assert parse_mesh(f"sdy.mesh {mesh.renamed('m')}") == mesh.renamed("m")


@given(shardings())
def test_shardings(sharding: TensorSharding) -> None:
    mesh = sharding.bound_mesh
    assert parse_sharding(str(sharding), mesh) == sharding
    assert parse_sharding(to_mlir(sharding), mesh) == sharding
    assert parse_sharding(f"sdy.sharding=<{sharding.body}>", mesh) == sharding
    if mesh.name is not None:
        assert parse_sharding(f"{mesh}\n{sharding}") == sharding
        unbound = parse_sharding(str(sharding))
        assert unbound.mesh == mesh.name
        assert str(unbound) == str(sharding)


@given(shardings(), shardings())
def test_shardings_per_value(first: TensorSharding, second: TensorSharding) -> None:
    if first.mesh_name == second.mesh_name is not None:
        second = first
    per_value = TensorShardingPerValue((first, second))
    known = {s.mesh_name: s.bound_mesh for s in per_value.shardings if s.mesh_name is not None}
    assert parse_sharding_per_value(str(per_value), known) == per_value
    assert parse_sharding_per_value(to_mlir(per_value), known) == per_value


@given(MANUAL_AXES)
def test_manual_axes(manual: ManualAxes) -> None:
    assert parse_manual_axes(str(manual)) == manual
    assert parse_manual_axes(to_mlir(manual)) == manual
    assert parse_manual_axes(f"#sdy.{manual}") == manual


@given(rules())
def test_rules(rule: OpShardingRule) -> None:
    assert parse_rule(str(rule)) == rule
    assert parse_rule(to_mlir(rule)) == rule
    assert parse_rule(rule.body) == rule
