"""The sharding rules that propagation leaves on ops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.ir.attributes import SHARDING_RULE, rule_attribute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jaxlib.mlir import ir

    from sdy.passes.propagation.engine import Engine

__all__ = ["drop_rules", "write_rules"]


def write_rules(engine: Engine, ops: Sequence[ir.Operation]) -> dict[int, ir.Attribute | None]:
    """Write the rule of each op as its attribute, into `ops`: the graph's, or copies of them.

    Returns what was written, by op.
    """
    classes, is_erased = engine.classes, engine.dead_ops.is_erased
    of_class: dict[int, ir.Attribute] = {}
    written: dict[int, ir.Attribute | None] = {}
    for op, number in classes.registered():
        if is_erased[op]:
            continue
        attribute = of_class.get(number)
        if attribute is None:
            attribute = rule_attribute(classes.classes[number].rule, ops[op].context)
            of_class[number] = attribute
        ops[op].attributes[SHARDING_RULE] = written[op] = attribute
    return written


def drop_rules(engine: Engine) -> dict[int, ir.Attribute | None]:
    """Drop the rules that ops came with, but for those that a user wrote.

    Returns None by op where that was done.
    """
    classes = engine.classes
    dropped: dict[int, ir.Attribute | None] = {}
    for op in classes.with_own_rule:
        if (
            not engine.dead_ops.is_erased[op]
            and not classes.classes[classes.of_op[op]].rule.is_custom
        ):
            del engine.graph.ops[op].attributes[SHARDING_RULE]
            dropped[op] = None
    return dropped
