"""The sweeps: steps are taken until nothing changes, in the order in which Shardy takes them.

The order is that of MLIR's greedy driver, top down. It starts with all ops, parents first. After
a step, the ops that a changed tensor touches are put on top of those that wait; an op that waits
already keeps its place, and the op itself is not put back. An op that is trivially dead is erased
when its turn comes.

Here the ops that have not had their first turn are the numbers above `position`, in order, and
those put on top are a stack. An op whose step would change nothing need not have its turn:
`active` marks the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdy.ir.op_traits import erasable_when_unused
from sdy.passes.propagation.op_classes import NO_CLASS, OpClasses
from sdy.passes.propagation.op_priorities import OP_PRIORITIES, Flow, factor_directions
from sdy.passes.propagation.step import OpClass, take_step
from sdy.passes.propagation.strategies import Strategy
from sdy.passes.propagation.tensors import Tensors, rank_of
from sdy.passes.propagation.visits import Visits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.indexed_module import IndexedModule
    from sdy.passes.propagation.direction import Direction
    from sdy.passes.propagation.graph import Graph

__all__ = ["ALL_OPS", "Engine", "Round"]

ALL_OPS = OP_PRIORITIES[-1]

_NO_STATE = 0
_STALE = -1


@dataclass(frozen=True, slots=True)
class Round:
    """What one sweep over the ops allows.

    Attributes:
      strategy: how conflicts are met.
      op_priority: which ops take part, and in which direction.

    """

    strategy: Strategy
    op_priority: int


class Engine:
    """The state of propagation: the shardings of all tensors, and which ops are gone."""

    def __init__(
        self,
        module: IndexedModule,
        graph: Graph,
        main: int,
        groups: Mapping[int, tuple[int, ...]],
        *,
        conservative: bool,
    ) -> None:
        self.graph = graph
        self.tensors = Tensors(graph, module.codec)
        self.classes = OpClasses(graph, self.tensors, module.codec, conservative=conservative)
        self.is_erased = bytearray(len(graph.ops))
        self.erased: list[int] = []
        self._module = module
        self._steps = _Steps(self.classes, self.tensors)
        self._visits = Visits(graph, self.classes)
        self._states = [_NO_STATE] * len(graph.ops)
        self._stale = [op for op, number in enumerate(self.classes.of_op) if number != NO_CLASS]
        self._multiple_uses = [False] * len(graph.ops)
        self._use_counts = [len(users) for users in graph.users]
        self._dead = bytearray(len(graph.ops))
        self._groups = groups
        self._returned = self._returned_tensors(main)
        self._stack: list[int] = []
        self._waiting: set[int] = set()
        self._position = -1
        self._active = bytearray(len(graph.ops))
        self._mark_dead_ops()
        self._mark_multiple_uses()

    def run(self, this_round: Round) -> None:
        """Sweep once over all ops, sharing shardings with the main function's results around."""
        self._share_with_results(this_round.strategy)
        self._sweep(this_round)
        self._share_with_results(this_round.strategy)

    # Sweeps.

    def _sweep(self, this_round: Round) -> None:
        self._refresh_states()
        self._active = self._ops_with_effect(this_round)
        self._position = -1
        while True:
            if self._stack:
                op = self._stack.pop()
                self._waiting.discard(op)
            else:
                op = self._position = self._active.find(1, self._position + 1)
                if op < 0:
                    return
            if self.is_erased[op]:
                continue
            if self._dead[op]:
                self._erase(op)
            elif self.classes.of_op[op] != NO_CLASS:
                self._visit(op, this_round)

    def _ops_with_effect(self, this_round: Round) -> bytearray:
        effects = [0] * self._steps.state_count
        for state in set(self._states):
            effects[state] = 1 if self._steps.changes(this_round, state) else 0
        active = bytearray(map(effects.__getitem__, self._states))
        for op, dead in enumerate(self._dead):
            if dead and not self.is_erased[op]:
                active[op] = 1
        return active

    def _refresh_states(self) -> None:
        for op in self._stale:
            self._states[op] = self._state(op)
        self._stale.clear()

    def _state(self, op: int) -> int:
        shardings = self.tensors.shardings
        numbers = tuple([shardings[tensor] for tensor in self.classes.tensors[op]])
        if not any(numbers):
            return _NO_STATE
        if op in self.classes.transforms:
            seen_as, _ = self.classes.transforms[op]
            interner = self.tensors.interner
            last = interner.sharding(numbers[-1])
            if last is not None:
                numbers = (*numbers[:-1], interner.number(seen_as(last)))
        return self._steps.state(self.classes.of_op[op], self._multiple_uses[op], numbers)

    def _visit(self, op: int, this_round: Round) -> None:
        state = self._states[op]
        if state == _STALE:
            state = self._states[op] = self._state(op)
        tensors = self.classes.tensors[op]
        transform = self.classes.transforms.get(op)
        for position, number in self._steps.changes(this_round, state):
            if transform is not None and position == len(tensors) - 1:
                number = self._kept_as(op, number)
            self._assign(tensors[position], number, op)

    def _kept_as(self, op: int, number: int) -> int:
        _, kept_as = self.classes.transforms[op]
        sharding = self.tensors.interner.sharding(number)
        return number if sharding is None else self.tensors.interner.number(kept_as(sharding))

    def _assign(self, tensor: int, number: int, source: int | None) -> None:
        """Set a tensor's sharding, and those of its group, and queue what they touch.

        `source` is the op that is having its turn; None between sweeps, when nothing is queued.
        """
        group = self._groups.get(tensor, ())
        for member in (tensor, *(other for other in group if other != tensor)):
            target = self.tensors.of_value[member] if member != tensor else tensor
            for opened in self.tensors.assign(target, number):
                self._touch(self._visits.after_change(opened))
                self._touch(self._visits.edges_not_visited(opened))
            affected = self._visits.after_change(member)
            self._touch(affected)
            self._touch(self._visits.edges_not_visited(target))
            if source is not None:
                for op in affected:
                    if op != source:
                        self._queue(op)

    def _touch(self, ops: Sequence[int]) -> None:
        for op in ops:
            self._active[op] = 1
            if self._states[op] != _STALE:
                self._states[op] = _STALE
                self._stale.append(op)

    def _queue(self, op: int) -> None:
        if op <= self._position and op not in self._waiting and not self.is_erased[op]:
            self._waiting.add(op)
            self._stack.append(op)

    # Function results.

    def _returned_tensors(self, main: int) -> list[tuple[int, int, int]]:
        """Return for each result of main the class of its step, the value and the result."""
        terminator = next(
            op
            for op in range(main + 1, len(self.graph.ops))
            if self.graph.names[op] == "func.return"
        )
        returned = []
        for value, result in zip(
            self.graph.operands[terminator], self.tensors.result_tensors[main], strict=True
        ):
            number = self.classes.identity(self.graph.types[value])
            if number != NO_CLASS:
                returned.append((number, self.tensors.of_value[value], result))
        return returned

    def _share_with_results(self, strategy: Strategy) -> None:
        everything = Round(strategy, ALL_OPS)
        shardings = self.tensors.shardings
        for number, value, result in self._returned:
            numbers = (shardings[value], shardings[result])
            if any(numbers):
                state = self._steps.state(number, False, numbers)
                for position, new in self._steps.changes(everything, state):
                    if position == 0:
                        self._assign(value, new, None)
                    else:
                        self.tensors.assign(result, new)

    # Dead ops.

    def _mark_dead_ops(self) -> None:
        for op, results in enumerate(self.graph.results):
            if not any(self._use_counts[value] for value in results):
                self._dead[op] = erasable_when_unused(self.graph.ops[op])

    def _mark_multiple_uses(self) -> None:
        for op, number in enumerate(self.classes.of_op):
            if number != NO_CLASS:
                self._multiple_uses[op] = self._has_multiple_uses(op)

    def _has_multiple_uses(self, op: int) -> bool:
        flow = self.classes.classes[self.classes.of_op[op]].flow
        if flow not in (Flow.PASS_THROUGH, Flow.DYNAMIC_SLICE):
            return False
        counts, types = self._use_counts, self.graph.types
        return any(
            counts[value] != 1 and rank_of(types[value]) for value in self.graph.operands[op]
        )

    def _erase(self, op: int) -> None:
        """Erase a dead op and what is in it, and queue the producers of its operands."""
        for inner in reversed(list(self.graph.nested(op))):
            self._erase_one(inner)
        self._erase_one(op)
        self.erased.append(op)

    def _erase_one(self, op: int) -> None:
        self.is_erased[op] = 1
        for value in dict.fromkeys(self.graph.operands[op]):
            users = [user for user in self.graph.users[value] if not self.is_erased[user]]
            self._use_counts[value] = len(users)
            for user in users:
                self._use_counts_changed(user)
            producer = self.graph.producers[value]
            if producer < 0 or len(set(users)) > 1:
                continue
            if not any(self._use_counts[result] for result in self.graph.results[producer]):
                self._dead[producer] = erasable_when_unused(self.graph.ops[producer])
            self._active[producer] = 1
            self._queue(producer)

    def _use_counts_changed(self, user: int) -> None:
        if self.classes.of_op[user] == NO_CLASS:
            return
        multiple_uses = self._has_multiple_uses(user)
        if multiple_uses != self._multiple_uses[user]:
            self._multiple_uses[user] = multiple_uses
            self._touch((user,))

    # Between rounds, and at the end.

    def reassign(self, tensor: int, sharding: TensorSharding) -> None:
        """Set the sharding of one tensor between rounds."""
        self.tensors.assign(tensor, self.tensors.interner.number(sharding))
        if tensor < len(self.graph.values):
            self._touch(self._visits.after_change(tensor))
            self._touch(self._visits.edges_not_visited(tensor))

    def is_gone(self, tensor: int) -> bool:
        """Return whether the op that gives the tensor has been erased."""
        if tensor >= len(self.graph.values):
            return False
        op = self.graph.producers[tensor]
        return op >= 0 and bool(self.is_erased[op])

    def write_back(self) -> None:
        """Erase the dead ops from the module and write the shardings that changed."""
        self.tensors.write_back(lambda op: bool(self.is_erased[op]))
        for op in self.erased:
            self.graph.ops[op].erase()
        if self.erased:
            self._module.ops_changed()


class _Steps:
    """The steps taken so far, by the state of an op: its class and the shardings it meets."""

    def __init__(self, classes: OpClasses, tensors: Tensors) -> None:
        self._classes = classes
        self._interner = tensors.interner
        self._numbers: dict[tuple[int, bool, tuple[int, ...]], int] = {}
        self._states: list[tuple[int, bool, tuple[int, ...]] | None] = [None]
        self._changes: dict[Round, dict[int, tuple[tuple[int, int], ...]]] = {}
        self._directions: dict[tuple[OpClass, int, bool], tuple[Direction, ...]] = {}
        self._taken: dict[
            tuple[int, Strategy, tuple[Direction, ...], tuple[int, ...]],
            tuple[tuple[int, int], ...],
        ] = {}

    @property
    def state_count(self) -> int:
        """The number of distinct states."""
        return len(self._states)

    def state(self, op_class: int, multiple_uses: bool, shardings: tuple[int, ...]) -> int:
        """Return the number of a state."""
        key = (op_class, multiple_uses, shardings)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._states)
            self._states.append(key)
        return number

    def changes(self, this_round: Round, state: int) -> tuple[tuple[int, int], ...]:
        """Return what the step of an op in `state` changes: (position, new sharding)."""
        by_state = self._changes.get(this_round)
        if by_state is None:
            by_state = self._changes[this_round] = {}
        known = by_state.get(state)
        if known is None:
            known = by_state[state] = self._compute(this_round, state)
        return known

    def _compute(self, this_round: Round, state: int) -> tuple[tuple[int, int], ...]:
        key = self._states[state]
        if key is None:
            return ()
        number, multiple_uses, shardings = key
        op_class = self._classes.classes[number]
        directions = self._factor_directions(op_class, this_round.op_priority, multiple_uses)
        step = (number, this_round.strategy, directions, shardings)
        known = self._taken.get(step)
        if known is None:
            changes = take_step(
                op_class,
                this_round.strategy,
                directions,
                [self._interner.sharding(sharding) for sharding in shardings],
            )
            known = self._taken[step] = tuple(
                (position, self._interner.number(new)) for position, new in changes
            )
        return known

    def _factor_directions(
        self, op_class: OpClass, priority: int, multiple_uses: bool
    ) -> tuple[Direction, ...]:
        key = (op_class, priority, multiple_uses)
        known = self._directions.get(key)
        if known is None:
            known = self._directions[key] = factor_directions(
                op_class.rule, op_class.flow, priority, multiple_uses=multiple_uses
            )
        return known

