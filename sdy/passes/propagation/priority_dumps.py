"""Files of the module as it is between two user priorities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.ir.attributes import SHARDING_RULE
from sdy.ir.structure import NOTHING
from sdy.ir.values import operations
from sdy.passes.propagation.rule_attributes import rules_of_ops
from sdy.passes.save_module import save_module

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule
    from sdy.passes.propagation.engine import Engine

__all__ = ["dump_after_priority"]

_INDEX = 0


def dump_after_priority(
    engine: Engine, module: IndexedModule, directory: str, priority: int
) -> None:
    """Write `00.propagation_after_user_priority_P.mlir`; nothing where the directory is "".

    It has the shardings of now and the rules of ops, and none of the ops that are dead. They
    stay in the module itself until propagation ends, as the engine reads it.
    """
    if not directory:
        return
    engine.write_shardings()
    copy = module.operation.clone().operation
    ops = operations(copy)
    rules, numbers = rules_of_ops(engine)
    for op, number in zip(ops, numbers, strict=True):
        if number != NOTHING:
            op.attributes[SHARDING_RULE] = module.codec.rule_attribute(rules[number])
    for op in engine.dead_ops.erased:
        ops[op].erase()
    save_module(copy, directory, f"propagation_after_user_priority_{priority}", _INDEX)
