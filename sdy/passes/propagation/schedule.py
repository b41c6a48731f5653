"""Propagation of a whole module: snapshot, rounds, answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sdy.ir.attributes import SHARDING_RULE
from sdy.ir.diagnostics import op_error
from sdy.ir.main_function import main_function
from sdy.ir.op_attributes import LateRule
from sdy.ir.op_names import FUNCTION
from sdy.passes.propagation.debug_attributes import NO_DEBUG, DebugAttributes
from sdy.passes.propagation.engine import ALL_OPS, Engine
from sdy.passes.propagation.graph import Graph
from sdy.passes.propagation.priority_dumps import dump_after_priority
from sdy.passes.propagation.recording import Recording
from sdy.passes.propagation.rule_attributes import dropped_rules, rules_of_ops
from sdy.passes.propagation.sharding_groups import (
    constrain_conflicting_groups,
    group_of_value,
    shared_within_groups,
    value_groups,
)
from sdy.passes.propagation.step_case import Round
from sdy.passes.propagation.unknown_ops import warn_of_unknown_ops
from sdy.passes.propagation.user_priorities import user_priority_rounds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from jaxlib.mlir import ir

    from sdy.ir.indexed_module import IndexedModule
    from sdy.passes.propagation.debug_attributes import DebugOptions
    from sdy.passes.propagation.recording import Observer
    from sdy.passes.propagation.sharding_groups import Groups
    from sdy.passes.propagation.step_case import Strategy

__all__ = ["Schedule", "Watcher", "propagate_shardings"]


class Watcher(Protocol):
    """Looks on while the shardings of a module are propagated, and changes none."""

    def before(self, engine: Engine) -> None:
        """Look before the first round, before sharding groups agree."""

    def after(self, engine: Engine, recording: Recording) -> None:
        """Look after the last round, before the answer is written; at all steps that were taken."""


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


def propagate_shardings(
    module: IndexedModule,
    schedule: Schedule,
    debug: DebugOptions = NO_DEBUG,
    dump_directory: str = "",
    watcher: Watcher | None = None,
) -> None:
    """Propagate the shardings of `module` through it, in place.

    Args:
      module: the module.
      schedule: which rounds propagation goes through.
      debug: which debug attributes are written.
      dump_directory: where the module is written to between two user priorities; "" for nowhere.
      watcher: looks at the engine before the first round and after the last.

    Raises:
      Error: located, where a shape is dynamic, a type a tuple, a function of several blocks, a
        data-flow edge on a value that has none, or no function is the main one.

    """
    main = main_function(module, is_read_only=True)
    if main is None:
        return
    _refuse_branches(module.read_ops(FUNCTION))
    recording = Recording() if debug or watcher is not None else None
    engine, groups = _make_engine(module, main, schedule, recording)
    if watcher is not None:
        watcher.before(engine)
    for tensor, sharding in shared_within_groups(engine.tensors, groups):
        engine.reassign(tensor, sharding)
    attributes = DebugAttributes(module, debug) if debug else None
    warn_of_unknown_ops(engine.graph.distinct_names, engine.graph.handles_named)

    def dump(priority: int) -> None:
        dump_after_priority(engine, module, dump_directory, priority)

    for user_priority in user_priority_rounds(engine, dump) if schedule.user_priorities else (0,):
        if recording is not None:
            recording.user_priority = user_priority
        for op_priority in schedule.op_priorities:
            for strategy in schedule.strategies:
                engine.run(Round(strategy, op_priority))
    if recording is not None and attributes is not None:
        attributes.replay(recording, engine)
        attributes.write()
    if recording is not None and watcher is not None:
        watcher.after(engine, recording)
    engine.write_shardings()
    if schedule.keep_rules:
        rules, numbers = rules_of_ops(engine)
        late = [LateRule(rule, module.codec) for rule in rules]
        module.set_numbered_attributes(SHARDING_RULE, late, numbers)
    else:
        module.set_attributes(SHARDING_RULE, dropped_rules(engine))
    engine.erase_dead_ops()


def _refuse_branches(functions: Iterable[ir.Operation]) -> None:
    for function in functions:
        if len(function.regions[0].blocks) > 1:
            raise op_error(function, "functions with more than one block are not supported")


def _make_engine(
    module: IndexedModule, main: ir.Operation, schedule: Schedule, observer: Observer | None
) -> tuple[Engine, Groups]:
    """Return an engine whose sharding groups have no conflicts, and the groups by their ids."""
    while True:
        graph = Graph(module)
        graph.check_types()
        groups = value_groups(graph)
        engine = Engine(
            module,
            graph,
            graph.op_index(main),
            group_of_value(groups),
            conservative=schedule.conservative,
            observer=observer,
        )
        if not constrain_conflicting_groups(engine.tensors, groups, module.codec):
            return engine, groups
        module.ops_changed()
