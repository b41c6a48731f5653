"""Puts the rules that users registered on the ops that they are for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sdy.dialect.einsum_rule import EinsumRule
from sdy.dialect.errors import Error, VerifyError
from sdy.dialect.sharding_rule import OpShardingRule
from sdy.ir.attributes import SHARDING_RULE
from sdy.ir.diagnostics import op_error
from sdy.ir.types import is_static_shaped, shape
from sdy.passes.propagation.rules.register import as_rule
from sdy.passes.propagation.rules.user_rules import active_rules, label

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from jaxlib.mlir import ir

    from sdy.ir.indexed_module import IndexedModule
    from sdy.passes.propagation.rules.user_rules import UserRule

__all__ = ["write_user_rules"]


def write_user_rules(module: IndexedModule) -> None:
    """Give each op that a rule is registered for that rule as its attribute.

    The rule is marked as custom, as a rule in the program is that a user wrote: it is never
    dropped. Ops that have a rule already keep it.

    Raises:
      Error: at the op, where the rule does not fit it, or the function of the rule fails.

    """
    if active_rules():
        for op, attribute in list(_rule_attributes(module)):
            op.attributes[SHARDING_RULE] = attribute


def _rule_attributes(module: IndexedModule) -> Iterator[tuple[ir.Operation, ir.Attribute]]:
    """Yield the ops that get a rule, and the attribute."""
    rules = active_rules()
    known: dict[Hashable, ir.Attribute | None] = {}
    for name in rules.op_names():
        for op in module.ops(name):
            rule = None if SHARDING_RULE in op.attributes else rules.find(op)
            if rule is None:
                continue
            key = _key(rule, op)
            if key not in known:
                resolved = _rule_of(rule, op)
                known[key] = resolved and module.codec.rule_attribute(resolved)
            attribute = known[key]
            if attribute is not None:
                yield op, attribute


def _key(rule: UserRule, op: ir.Operation) -> Hashable:
    """Return what the rule of an op depends on; a key like no other where that is not known."""
    if rule.reads is None:
        return object()
    return (
        rule,
        tuple(operand.type for operand in op.operands),
        tuple(result.type for result in op.results),
        tuple(op.attributes.get(name) for name in rule.reads),
    )


def _rule_of(user_rule: UserRule, op: ir.Operation) -> OpShardingRule | None:
    rule = user_rule.rule
    try:
        if not isinstance(rule, EinsumRule | OpShardingRule):
            returned = rule(op)
            if returned is None:
                return None
            rule = as_rule(returned)
        return replace(_fitted(rule, op), is_custom=True)
    except Error as error:
        raise op_error(op, f"{user_rule} does not fit {label(op)}: {error}") from None
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise op_error(op, f"{user_rule} failed for {label(op)}: {what}") from error


def _fitted(rule: EinsumRule | OpShardingRule, op: ir.Operation) -> OpShardingRule:
    shapes = _shapes(op.operands, "operand"), _shapes(op.results, "result")
    resolved = rule.resolve(*shapes) if isinstance(rule, EinsumRule) else rule
    resolved.verify(*shapes)
    return resolved


def _shapes(values: Sequence[ir.Value], kind: str) -> list[tuple[int, ...]]:
    for index, value in enumerate(values):
        if not is_static_shaped(value.type):
            raise VerifyError(f"{kind} {index} is no ranked tensor with a static shape")
    return [shape(value.type) for value in values]
