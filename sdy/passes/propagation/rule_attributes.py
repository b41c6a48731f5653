"""The sharding rules that propagation leaves on ops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.ir.attributes import SHARDING_RULE, rule_attribute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jaxlib.mlir import ir

    from sdy.dialect.sharding_rule import OpShardingRule
    from sdy.passes.propagation.engine import Engine

__all__ = ["drop_rules", "write_rules"]


def write_rules(engine: Engine, ops: Sequence[ir.Operation]) -> None:
    """Write the rule of each op as its attribute, into `ops`: the graph's, or copies of them."""
    attributes: dict[OpShardingRule, ir.Attribute] = {}
    for op, rule in engine.classes.registered():
        if engine.dead_ops.is_erased[op]:
            continue
        if rule not in attributes:
            attributes[rule] = rule_attribute(rule, ops[op].context)
        ops[op].attributes[SHARDING_RULE] = attributes[rule]


def drop_rules(engine: Engine) -> None:
    """Drop the rules that ops came with, but for those that a user wrote."""
    classes = engine.classes
    for op in classes.with_own_rule:
        if (
            not engine.dead_ops.is_erased[op]
            and not classes.classes[classes.of_op[op]].rule.is_custom
        ):
            del engine.graph.ops[op].attributes[SHARDING_RULE]
