"""The sharding rules of ops as the reshards need them, one for all ops that are alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.ir.attributes import SHARDING_RULE
from sdy.passes.propagation.rules.registry import RULES, rule_for

if TYPE_CHECKING:
    from collections.abc import Hashable

    from jaxlib.mlir import ir

    from sdy.dialect.sharding_rule import OpShardingRule
    from sdy.ir.attributes import AttributeCodec

__all__ = ["op_rule", "read_op_rule", "rule_key"]


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


def read_op_rule(op: ir.Operation, codec: AttributeCodec) -> OpShardingRule | None:
    """Return what `op_rule` does for the attribute that the op has."""
    attribute = op.attributes.get(SHARDING_RULE)
    return op_rule(op, None if attribute is None else codec.rule(attribute))


def op_rule(op: ir.Operation, rule: OpShardingRule | None) -> OpShardingRule | None:
    """Return the rule that propagation left on an op as an attribute, or the one it would have.

    None where there is none, and where a user wrote it: such ops are left alone.
    """
    if rule is None:
        return rule_for(op)
    return None if rule.is_custom else rule
