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

from typing import TYPE_CHECKING

from sdy.ir.attributes import SHARDING
from sdy.ir.op_names import FUNCTION, RETURN
from sdy.passes.propagation.data_flow import Calls
from sdy.passes.propagation.dead_ops import DeadOps
from sdy.passes.propagation.op_classes import NO_CLASS, OpClasses
from sdy.passes.propagation.op_priorities import OP_PRIORITIES, Flow
from sdy.passes.propagation.step_case import Round
from sdy.passes.propagation.steps import NO_STATE, Changes, Steps
from sdy.passes.propagation.tensors import NO_SHARDING, Tensors
from sdy.passes.propagation.visits import Visits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.indexed_module import IndexedModule
    from sdy.passes.propagation.graph import Graph
    from sdy.passes.propagation.recording import Observer
    from sdy.passes.propagation.step_case import StepCase, Strategy

__all__ = ["ALL_OPS", "Engine"]

ALL_OPS = OP_PRIORITIES[-1]

_STALE = -1
_NOBODY = -1
_FLOWS_THAT_COUNT_USES = (Flow.PASS_THROUGH, Flow.DYNAMIC_SLICE)


class Engine:
    """The state of propagation: the shardings of all tensors, and which ops wait.

    An observer, if there is one, is told of every step that changes something.
    """

    def __init__(
        self,
        module: IndexedModule,
        graph: Graph,
        main: int,
        groups: Mapping[int, tuple[int, ...]],
        *,
        conservative: bool,
        observer: Observer | None = None,
    ) -> None:
        calls = Calls(graph)
        self.graph = graph
        self.groups = groups
        self.tensors = Tensors(graph, module.codec)
        self.classes = OpClasses(
            graph, calls, self.tensors, module.codec, conservative=conservative
        )
        self.dead_ops = DeadOps(graph)
        self._module = module
        self._main = main
        self._observer = observer
        self._steps = Steps(self.classes.classes, self.tensors.interner)
        self._visits = Visits(graph, calls, self.tensors, self.classes)
        self._states = [NO_STATE] * len(graph.ops)
        self._kinds = self._all_kinds()
        self._returned = self._returned_tensors(main)
        self._known_states = self._steps.known_states()
        self._stack: list[int] = []
        self._waiting = [False] * len(graph.ops)
        self._active = bytearray(len(graph.ops))
        self._position = -1
        for tensor, number in enumerate(self.tensors.shardings):
            if number != NO_SHARDING:
                self._note(tensor)

    def run(self, this_round: Round) -> None:
        """Sweep once over all ops, sharing shardings with the main function's results around."""
        self._share_with_results(this_round.strategy)
        self._sweep(this_round)
        self._share_with_results(this_round.strategy)

    # Sweeps.

    def _sweep(self, this_round: Round) -> None:
        known = self._steps.begin(this_round)
        self._refresh_states()
        self._active = self._ops_with_effect()
        self._position = -1
        is_erased, is_dead = self.dead_ops.is_erased, self.dead_ops.is_dead
        states, stack, waiting = self._states, self._stack, self._waiting
        observer = self._observer
        while True:
            if stack:
                op = stack.pop()
                waiting[op] = False
            else:
                op = self._position = self._active.find(1, self._position + 1)
                if op < 0:
                    return
            if is_erased[op]:
                continue
            if is_dead[op]:
                self._erase(op)
                continue
            state = states[op]
            if state == _STALE:
                state = states[op] = self._state(op)
            changes = known[state]
            if changes is None:
                changes = self._steps.changes(state)
            if changes:
                if observer is not None:
                    case = self._steps.case(state)
                    self._tell(observer, op, self.classes.tensors[op], this_round, case, changes)
                self._apply(op, changes)

    def _ops_with_effect(self) -> bytearray:
        """Return which ops' steps would change something now, or are dead."""
        effects = [0] * self._steps.state_count
        for state in set(self._states):
            effects[state] = 1 if self._steps.changes(state) else 0
        active = bytearray(map(effects.__getitem__, self._states))
        for op in self.dead_ops.waiting():
            active[op] = 1
        return active

    def _refresh_states(self) -> None:
        states = self._states
        for op, state in enumerate(states):
            if state == _STALE:
                states[op] = self._state(op)

    def _state(self, op: int) -> int:
        shardings = self.tensors.shardings
        numbers = tuple([shardings[tensor] for tensor in self.classes.tensors[op]])
        if op in self.classes.transforms:
            numbers = (*numbers[:-1], self._seen_as(op, numbers[-1]))
        kind = self._kinds[op]
        known = self._known_states[kind].get(numbers)
        return self._steps.state(kind, numbers) if known is None else known

    def _apply(self, op: int, changes: Changes) -> None:
        """Set the shardings that a step of `op` has changed, in order."""
        tensors, groups = self.classes.tensors[op], self.groups
        is_transformed = op in self.classes.transforms
        for position, number in changes:
            tensor, kept = tensors[position], number
            if is_transformed and position == len(tensors) - 1:
                kept = self._kept_as(op, number)
            self._assign(tensor, kept, op)
            if tensor in groups:
                # As in Shardy, a group gets the sharding that the step sees, not the one kept.
                for member in groups[tensor]:
                    if member != tensor:
                        self._assign(self.tensors.of_value[member], number, op)
                        self._notify(member, op)

    def _tell(
        self,
        observer: Observer,
        op: int,
        tensors: tuple[int, ...],
        this_round: Round,
        case: StepCase,
        changes: Changes,
    ) -> None:
        """Tell the observer of a step that changes something."""
        known = self.tensors.known
        new = tuple([(position, known(number)) for position, number in changes])
        observer.step_taken(op, tensors, this_round.op_priority, case, new)

    def _seen_as(self, op: int, number: int) -> int:
        """Return the sharding of a manual computation's edge as the step sees it."""
        sharding = self.tensors.interner.sharding(number)
        seen_as, _ = self.classes.transforms[op]
        return NO_SHARDING if sharding is None else self.tensors.interner.number(seen_as(sharding))

    def _kept_as(self, op: int, number: int) -> int:
        """Return the sharding that a step gave a manual computation's edge as the edge keeps it."""
        sharding = self.tensors.interner.sharding(number)
        _, kept_as = self.classes.transforms[op]
        return NO_SHARDING if sharding is None else self.tensors.interner.number(kept_as(sharding))

    def _assign(self, tensor: int, number: int, source: int) -> None:
        """Set the sharding of a tensor and notify the ops that meet another one now.

        Siblings that got an open sharding with it are noted, but nothing is visited for them.
        `source` is the op whose step it was.
        """
        for sibling in self.tensors.assign(tensor, number):
            self._note(sibling)
        if source == _NOBODY:
            self._note(tensor)
        else:
            self._notify(tensor, source)
            if self._visits.leaves_some_out:
                self._mark(self._visits.not_visited(tensor))

    def _notify(self, tensor: int, source: int) -> None:
        """Put the ops that a changed tensor touches on top of those that wait, but for one."""
        states, waiting, position = self._states, self._waiting, self._position
        for op in self._visits.after_change(tensor):
            states[op] = _STALE
            if op > position:
                self._active[op] = 1
            elif op != source and not waiting[op]:
                waiting[op] = True
                self._stack.append(op)

    def _note(self, tensor: int) -> None:
        """Note which ops meet another sharding of a tensor, without a turn for those behind."""
        self._mark(self._visits.after_change(tensor))
        self._mark(self._visits.not_visited(tensor))

    def _mark(self, ops: Iterable[int]) -> None:
        for op in ops:
            self._states[op] = _STALE
            self._active[op] = 1

    # Function results.

    def _returned_tensors(self, main: int) -> list[tuple[int, int, int]]:
        """Return for each result of main the class of its step, the value and the result.

        There are none where main has no body, or does not return.
        """
        names = self.graph.names
        ends = (op for op in range(main + 1, len(names)) if names[op] in (RETURN, FUNCTION))
        terminator = next(ends, None)
        returned: list[tuple[int, int, int]] = []
        if terminator is None or names[terminator] == FUNCTION:
            return returned
        for value, result in zip(
            self.graph.operands[terminator], self.tensors.result_tensors[main], strict=True
        ):
            number = self.classes.identity(self.graph.type_of(value))
            if number != NO_CLASS:
                kind = self._steps.kind(number, multiple_uses=False)
                returned.append((kind, self.tensors.of_value[value], result))
        return returned

    def _share_with_results(self, strategy: Strategy) -> None:
        """Make each value that main returns and main's result agree, without queueing anything."""
        everything = Round(strategy, ALL_OPS)
        self._steps.begin(everything)
        shardings, observer = self.tensors.shardings, self._observer
        for kind, value, result in self._returned:
            numbers = (shardings[value], shardings[result])
            if not any(numbers):
                continue
            state = self._steps.state(kind, numbers)
            changes = self._steps.changes(state)
            if changes and observer is not None:
                case = self._steps.case(state)
                self._tell(observer, self._main, (value, result), everything, case, changes)
            for position, number in changes:
                if position == 1:
                    self.tensors.assign(result, number)
                    continue
                self._assign(value, number, _NOBODY)
                for member in self.groups.get(value, ()):
                    if member != value:
                        self._assign(self.tensors.of_value[member], number, _NOBODY)

    # Dead ops.

    def _erase(self, op: int) -> None:
        """Erase a dead op; its operands' producers get a turn, its operands' users may change."""
        for operand, producer in self.dead_ops.erase(op):
            for user in self.graph.users[operand]:
                self._use_count_changed(user)
            if producer is not None:
                self._active[producer] = 1
                if producer <= self._position and not self._waiting[producer]:
                    self._waiting[producer] = True
                    self._stack.append(producer)

    def _use_count_changed(self, user: int) -> None:
        kind = self._kind(user)
        if kind != self._kinds[user]:
            self._kinds[user] = kind
            self._mark((user,))

    def _all_kinds(self) -> list[int]:
        """Return the kind of each op."""
        counts_uses = [c.flow in _FLOWS_THAT_COUNT_USES for c in self.classes.classes]
        is_shared = self.dead_ops.ops_with_shared_operand()
        kind = self._steps.kind
        return [
            NO_CLASS
            if number == NO_CLASS
            else kind(number, multiple_uses=bool(shared and counts_uses[number]))
            for number, shared in zip(self.classes.of_op, is_shared, strict=True)
        ]

    def _kind(self, op: int) -> int:
        """Return the class of an op joined with whether its operands have more uses than one."""
        number = self.classes.of_op[op]
        if number == NO_CLASS:
            return NO_CLASS
        counts = self.classes.classes[number].flow in _FLOWS_THAT_COUNT_USES
        return self._steps.kind(
            number, multiple_uses=counts and self.dead_ops.has_shared_operand(op)
        )

    # Between rounds, and at the end.

    def reassign(self, tensor: int, sharding: TensorSharding) -> None:
        """Set the sharding of one tensor between rounds."""
        self._assign(tensor, self.tensors.interner.number(sharding), _NOBODY)

    def is_gone(self, tensor: int) -> bool:
        """Return whether the op that gives the tensor has been erased."""
        producer = self.graph.producers[tensor] if tensor < self.graph.value_count else -1
        return producer >= 0 and bool(self.dead_ops.is_erased[producer])

    def write_back(self) -> None:
        """Erase the dead ops from the module and write the shardings that changed."""
        self.tensors.write_back(self.dead_ops.is_erased)
        self._module.changes.attributes[SHARDING] = self.tensors.written_lists
        for op in self.dead_ops.erased:
            self.graph.ops[op].erase()
        erased = [op for op, is_erased in enumerate(self.dead_ops.is_erased) if is_erased]
        self._module.replace_at(dict.fromkeys(erased, ()))
