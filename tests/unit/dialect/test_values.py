"""What holds for all values of the dialect: they are immutable, and compared by what they say."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import pytest

from sdy.dialect.axes import AxisRef, SubAxis
from sdy.dialect.mesh import Mesh, MeshAxis
from sdy.dialect.parser import parse_rule, parse_sharding
from sdy.dialect.sharding import DimensionSharding

TEXT = 'sharding<@m, [{"x":(2)2, ?}p1, {}], replicated={"y"}, unreduced={"z"}>'
MESH = Mesh({"x": 4, "y": 2, "z": 2}, name="m")
RULE = "([ij, k], [k])->([i, j]) {i=2, j=3, k=4} reduction={k}"


def made() -> list[Any]:
    """Return a value of each type, made anew."""
    rule = parse_rule(RULE)
    return [
        SubAxis(2, 2),
        AxisRef("x"),
        AxisRef.sub("x", 2, 2),
        MeshAxis("x", 4),
        MESH,
        DimensionSharding((AxisRef("x"),), is_closed=False, priority=1),
        parse_sharding(TEXT, MESH),
        rule.operands[0].dimensions[0],
        rule.operands[0],
        rule,
    ]


@pytest.mark.parametrize(("value", "same"), list(zip(made(), made(), strict=True)))
def test_a_value_is_what_it_says(value: Any, same: Any) -> None:
    is_other = value != same
    assert value == same
    assert not is_other
    assert hash(value) == hash(same)
    assert value != str(value)
    assert [value == other for other in made()].count(True) == 1


@pytest.mark.parametrize("value", made())
def test_a_value_is_copied_and_pickled(value: Any) -> None:
    for other in (copy.deepcopy(value), pickle.loads(pickle.dumps(value)), replace(value)):
        assert other == value
        assert hash(other) == hash(value)
        assert str(other) == str(value)


@pytest.mark.parametrize("value", made())
def test_a_value_does_not_change(value: Any) -> None:
    for field in fields(value):
        with pytest.raises(FrozenInstanceError):
            setattr(value, field.name, getattr(value, field.name))


def test_every_field_counts() -> None:
    sharding = parse_sharding(TEXT, MESH)
    for changed in (
        replace(sharding, mesh="m"),
        replace(sharding, dimensions=sharding.dimensions[:1]),
        replace(sharding, replicated=()),
        replace(sharding, unreduced=()),
    ):
        assert changed != sharding
    (dimension, _) = sharding.dimensions
    for different in (
        replace(dimension, axes=()),
        replace(dimension, is_closed=True),
        replace(dimension, priority=None),
    ):
        assert different != dimension
    rule = parse_rule(RULE)
    other: dict[str, Any] = {
        "factor_sizes": (2, 3, 5),
        "operands": rule.operands[:1],
        "results": rule.operands,
        "reduction": (),
        "need_replication": (0,),
        "permutation": (0,),
        "blocked_propagation": (0,),
        "is_custom": True,
    }
    for name, value in other.items():
        assert replace(rule, **{name: value}) != rule
    assert replace(rule, results=()).tensors == rule.operands
