"""Propagation of a whole module: snapshot, rounds, answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdy.dialect.errors import Error
from sdy.ir.attributes import SHARDING_RULE, rule_attribute
from sdy.passes.propagation.calls import FUNCTION, symbol_name
from sdy.passes.propagation.engine import ALL_OPS, Engine
from sdy.passes.propagation.graph import Graph
from sdy.passes.propagation.sharding_groups import (
    constrain_conflicting_groups,
    group_of_value,
    shared_within_groups,
    value_groups,
)
from sdy.passes.propagation.steps import Round
from sdy.passes.propagation.unknown_ops import warn_of_unknown_ops
from sdy.passes.propagation.user_priorities import user_priority_rounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jaxlib.mlir import ir

    from sdy.dialect.sharding_rule import OpShardingRule
    from sdy.ir.indexed_module import IndexedModule
    from sdy.passes.propagation.strategies import Strategy

__all__ = ["Schedule", "propagate_shardings"]


@dataclass(frozen=True, slots=True)
class Schedule:
    """Which rounds propagation goes through.

    Attributes:
      strategies: those of every op priority, in turn.
      op_priorities: those of every user priority, in turn.
      user_priorities: whether dimensions propagate in the order of their priorities.
      conservative: whether sub-axes and uneven splits are not to be made.
      keep_rules: whether ops keep their sharding rules as attributes.

    """

    strategies: Sequence[Strategy]
    op_priorities: Sequence[int] = (ALL_OPS,)
    user_priorities: bool = False
    conservative: bool = False
    keep_rules: bool = False


def propagate_shardings(module: IndexedModule, schedule: Schedule) -> None:
    """Propagate the shardings of `module` through it, in place.

    Raises:
      Error: located, where a shape is dynamic, a type a tuple, or no function is the main one.

    """
    engine = _make_engine(module, schedule)
    warn_of_unknown_ops(engine.graph.ops_by_name())
    for _ in user_priority_rounds(engine) if schedule.user_priorities else (0,):
        for op_priority in schedule.op_priorities:
            for strategy in schedule.strategies:
                engine.run(Round(strategy, op_priority))
    engine.write_back()
    _write_rules(engine, module, keep=schedule.keep_rules)


def _make_engine(module: IndexedModule, schedule: Schedule) -> Engine:
    while True:
        graph = Graph(module.operation)
        graph.check_types()
        groups = value_groups(graph)
        engine = Engine(
            module,
            graph,
            _main_function(graph),
            group_of_value(groups),
            conservative=schedule.conservative,
        )
        if not constrain_conflicting_groups(engine.tensors, groups, module.codec):
            for tensor, sharding in shared_within_groups(engine.tensors, groups):
                engine.reassign(tensor, sharding)
            return engine
        module.ops_changed()


def _main_function(graph: Graph) -> int:
    functions = [op for op, name in enumerate(graph.names) if name == FUNCTION]
    if len(functions) == 1:
        return functions[0]
    for op in functions:
        if symbol_name(graph.ops[op]) == "main":
            return op
    raise Error(
        "propagation needs a function @main, or one function in all; "
        f"the module has {len(functions)} functions and none of that name"
    )


def _write_rules(engine: Engine, module: IndexedModule, *, keep: bool) -> None:
    """Keep the rule of each op as its attribute, or drop those that no user wrote."""
    ops, classes = engine.graph.ops, engine.classes
    if not keep:
        for op in classes.with_own_rule:
            if (
                not engine.dead_ops.is_erased[op]
                and not classes.classes[classes.of_op[op]].rule.is_custom
            ):
                del ops[op].attributes[SHARDING_RULE]
        return
    attributes: dict[OpShardingRule, ir.Attribute] = {}
    for op, rule in classes.registered():
        if engine.dead_ops.is_erased[op]:
            continue
        if rule not in attributes:
            attributes[rule] = rule_attribute(rule, module.context)
        ops[op].attributes[SHARDING_RULE] = attributes[rule]
