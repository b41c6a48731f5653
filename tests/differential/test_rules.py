"""The rule of an op equals the one that the reference writes, for thousands of ops."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest
from jaxlib.mlir import ir

from sdy.ir.attributes import SHARDING_RULE, read_rule
from sdy.ir.context import make_context
from sdy.passes.propagation.rules.registry import RULES, rule_for
from tests.differential.reference import Reference
from tests.differential.rule_cases.families import all_cases
from tests.differential.rule_cases.text import Draw, module_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sdy.dialect.sharding_rule import OpShardingRule

POPULATE = "sdy-populate-op-sharding-rules{conservative-propagation=%s}"

IMPLIED_BY_TYPES = {
    ("stablehlo.convolution", "batch_group_count"),
    ("stablehlo.convolution", "feature_group_count"),
    ("stablehlo.reduce_window", "window_dimensions"),
    ("stablehlo.select_and_scatter", "window_dimensions"),
}
"""What a rule reads though it follows from the types and the other attributes."""


@cache
def varied_ops() -> str:
    """Return a module of ops of all sorts of shapes."""
    return module_of([*all_cases(Draw(seed=1), scale=40)])


@cache
def similar_ops() -> str:
    """Return a module of ops whose types often coincide."""
    draws = Draw(seed=2, sizes=(2,)), Draw(seed=3, sizes=(1, 2))
    return module_of([case for draw in draws for case in all_cases(draw, scale=80)])


@pytest.fixture(autouse=True)
def context() -> Iterator[None]:
    with make_context():
        yield


def ops_of(module: ir.Module) -> list[ir.Operation]:
    """Return the ops of a module in the order of a walk."""
    ops: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        ops.append(op.operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return ops


def written_rule(op: ir.Operation) -> OpShardingRule | None:
    attributes = op.attributes
    return read_rule(attributes[SHARDING_RULE]) if SHARDING_RULE in attributes else None


@pytest.mark.parametrize("conservative", [False, True])
def test_rules_equal_those_of_the_reference(conservative: bool) -> None:
    options = POPULATE % str(conservative).lower()
    with Reference() as reference:
        populated = reference.run(varied_ops(), f"builtin.module(func.func({options}))")
    assert not populated.error
    ours, theirs = ir.Module.parse(varied_ops()), ir.Module.parse(populated.text)
    wrong = []
    for op, reference_op in zip(ops_of(ours), ops_of(theirs), strict=True):
        got, expected = rule_for(op, conservative), written_rule(reference_op)
        if got != expected:
            wrong.append(f"{op}\n  expected: {expected}\n  got:      {got}")
    assert not wrong, "\n".join(wrong[:10])


def test_every_op_that_has_a_rule_is_among_them() -> None:
    module = ir.Module.parse(varied_ops())
    assert RULES.keys() <= {op.name for op in ops_of(module) if rule_for(op) is not None}


def key_and_rules(op: ir.Operation) -> tuple[dict[str, object], tuple[object, object]]:
    """Return what the rules of an op are said to depend on, by name, and its two rules."""
    entry = RULES[op.name]
    key: dict[str, object] = {name: op.attributes.get(name) for name in entry.reads}
    key["types"] = tuple(value.type for value in [*op.operands, *op.results])
    if entry.beyond:
        key["beyond"] = entry.beyond(op)
    return key, (entry.build(op, False), entry.build(op, True))


def test_rules_depend_on_all_of_their_keys_and_on_nothing_else() -> None:
    module = ir.Module.parse(similar_ops())
    rows: dict[str, list[tuple[dict[str, object], tuple[object, object]]]] = {}
    for op in ops_of(module):
        if op.name in RULES:
            rows.setdefault(op.name, []).append(key_and_rules(op))
    for name, entry in RULES.items():
        assert is_determined(rows[name], without=None), f"{name} depends on more"
        for part in [*entry.reads, *(["beyond"] if entry.beyond else [])]:
            if (name, part) not in IMPLIED_BY_TYPES:
                assert not is_determined(rows[name], without=part), f"{name} ignores {part}"


def is_determined(
    rows: list[tuple[dict[str, object], tuple[object, object]]], without: str | None
) -> bool:
    """Return whether rows with equal keys, but for one part, have equal rules."""
    rules: dict[object, object] = {}
    for key, rule in rows:
        rest = tuple(value for part, value in key.items() if part != without)
        if rules.setdefault(rest, rule) != rule:
            return False
    return True
