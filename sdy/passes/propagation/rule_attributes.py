"""The sharding rules that propagation leaves on ops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.ir.rows import filled
from sdy.ir.structure import NOTHING

if TYPE_CHECKING:
    from jaxlib.mlir import ir
    from librt.vecs import vec
    from mypy_extensions import i64

    from sdy.dialect.sharding_rule import OpShardingRule
    from sdy.passes.propagation.engine import Engine

__all__ = ["dropped_rules", "rules_of_ops"]


def rules_of_ops(engine: Engine) -> tuple[list[OpShardingRule], vec[i64]]:
    """Return the distinct rules, and for each op which it has; NOTHING where it has none."""
    classes, is_erased = engine.classes, engine.dead_ops.is_erased
    rules: dict[OpShardingRule, int] = {}
    of_class = [rules.setdefault(each.rule, len(rules)) for each in classes.classes]
    numbers = filled(NOTHING, len(classes.of_op))
    for op, number in classes.registered():
        if not is_erased[op]:
            numbers[op] = of_class[number]
    return list(rules), numbers


def dropped_rules(engine: Engine) -> dict[int, ir.Attribute | None]:
    """Return None for each op that came with a rule, but for rules that a user wrote."""
    classes, is_erased = engine.classes, engine.dead_ops.is_erased
    return {
        op: None
        for op in classes.with_own_rule
        if not is_erased[op] and not classes.classes[classes.of_op[op]].rule.is_custom
    }
