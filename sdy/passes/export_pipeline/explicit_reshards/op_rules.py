"""The sharding rules of ops as the reshards need them, one for all ops that are alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.ir.attributes import SHARDING_RULE, read_rule
from sdy.passes.propagation.rules.registry import RULES, rule_for

if TYPE_CHECKING:
    from collections.abc import Hashable

    from jaxlib.mlir import ir

    from sdy.dialect.sharding_rule import OpShardingRule

__all__ = ["read_op_rule", "rule_key"]


def rule_key(op: ir.Operation, name: str) -> Hashable:
    """Return what decides the rule of an op besides its name and types."""
    attributes = op.attributes
    if SHARDING_RULE in attributes:
        return (attributes[SHARDING_RULE],)
    entry = RULES.get(name)
    if entry is None:
        return None
    key: list[Hashable] = [attributes.get(read, None) for read in entry.reads]
    if entry.beyond is not None:
        key.append(entry.beyond(op))
    return tuple(key)


def read_op_rule(op: ir.Operation) -> OpShardingRule | None:
    """Return the rule that propagation left on an op, or the one that it would have.

    None where there is none, and where a user wrote it: such ops are left alone.
    """
    attributes = op.attributes
    if SHARDING_RULE in attributes:
        rule = read_rule(attributes[SHARDING_RULE])
        return None if rule.is_custom else rule
    return rule_for(op)
