"""The sweeps: steps are taken until nothing changes, in the order in which Shardy takes them.

The order is that of MLIR's greedy driver, top down. It starts with all ops, parents first. After
a step, the ops that a changed tensor touches are put on top of those that wait; an op that waits
already keeps its place, and the op itself is not put back. An op that is trivially dead is erased
when its turn comes.

Here the ops that have not had their first turn are those of greater numbers than `position`, in
order, and those put on top are a stack. A state of an op is worked out when its turn comes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from librt.vecs import vec
from mypy_extensions import i64

from sdy.ir.attributes import SHARDING
from sdy.ir.op_names import RETURN
from sdy.ir.rows import filled, rows_of
from sdy.ir.structure import NOTHING
from sdy.passes.propagation.data_flow import Calls
from sdy.passes.propagation.dead_ops import DeadOps
from sdy.passes.propagation.interner import NO_SHARDING
from sdy.passes.propagation.op_classes import NO_CLASS, OpClasses
from sdy.passes.propagation.op_priorities import OP_PRIORITIES, Flow
from sdy.passes.propagation.step_case import Round
from sdy.passes.propagation.steps import NO_STATE, Steps
from sdy.passes.propagation.tensors import Tensors
from sdy.passes.propagation.visits import Visits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.indexed_module import IndexedModule
    from sdy.passes.propagation.graph import Graph
    from sdy.passes.propagation.recording import Observer
    from sdy.passes.propagation.step_case import Strategy

__all__ = ["ALL_OPS", "Engine"]

ALL_OPS = OP_PRIORITIES[-1]

_STALE: Final = -1
_NOBODY: Final = -1
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
        count = len(graph.ops)
        self._steps = Steps(self.classes.classes, self.tensors.interner)
        self._visits = Visits(graph, calls, self.tensors, self.classes)
        self._counts_uses = vec[i64](
            [int(c.flow in _FLOWS_THAT_COUNT_USES) for c in self.classes.classes]
        )
        self._multiple_uses = self._with_multiple_uses()
        self._states = filled(NO_STATE, count)
        self._returned_classes: list[int] = []
        self._returned = rows_of(())
        self._find_returned(main)
        self._stack = filled(0, count)
        self._stack_size: i64 = 0
        self._waiting = filled(0, count)
        self._position: i64 = -1
        shardings = self.tensors.shardings
        for tensor in range(i64(len(shardings))):
            if shardings[tensor] != NO_SHARDING:
                self._note(tensor)

    def run(self, this_round: Round) -> None:
        """Sweep once over all ops, sharing shardings with the main function's results around."""
        self._share_with_results(this_round.strategy)
        self._sweep(this_round)
        self._share_with_results(this_round.strategy)

    # Sweeps.

    def _sweep(self, this_round: Round) -> None:
        steps = self._steps
        steps.begin(this_round)
        self._position = -1
        count: i64 = len(self._states)
        is_erased, is_dead = self.dead_ops.is_erased, self.dead_ops.is_dead
        states, stack, waiting = self._states, self._stack, self._waiting
        while True:
            if self._stack_size > 0:
                self._stack_size -= 1
                op = stack[self._stack_size]
                waiting[op] = 0
            else:
                op = self._position + 1
                if op == count:
                    return
                self._position = op
            if is_erased[op]:
                continue
            if is_dead[op]:
                self._erase(op)
                continue
            state = states[op]
            if state == _STALE:
                state = states[op] = self._state(op)
            if state != NO_STATE:
                changes = steps.changes(state)
                if changes:
                    self._apply(op, changes, this_round)

    def _state(self, op: i64) -> i64:
        op_class, uses = self.classes.of_op[op], self._multiple_uses[op]
        tensors, shardings = self.classes.tensors, self.tensors.shardings
        if not self.classes.transforms or op not in self.classes.transforms:
            return self._steps.state(op_class, uses, tensors, op, shardings)
        numbers = [int(shardings[tensor]) for tensor in tensors[op]]
        numbers[-1] = self._seen_as(op, numbers[-1])
        return self._steps.state_of(op_class, uses, numbers)

    def _apply(self, op: i64, changes: i64, this_round: Round) -> None:
        """Set the shardings that a step of `op` has changed, in order."""
        if self._observer is not None:
            tensors = self.classes.tensors[op]
            self._tell(self._observer, op, tensors, this_round, self._states[op], changes)
        first = self.classes.tensors.starts[op]
        end = self.classes.tensors.starts[op + 1]
        is_transformed = bool(self.classes.transforms) and op in self.classes.transforms
        changed = self._steps.changed
        for place in range(changed.starts[changes], changed.starts[changes + 1], 2):
            position, number = changed.items[place], changed.items[place + 1]
            tensor, kept = self.classes.tensors.items[first + position], number
            if is_transformed and first + position == end - 1:
                kept = self._kept_as(op, number)
            self._assign(tensor, kept, op)
            if self.groups and tensor in self.groups:
                # As in Shardy, a group gets the sharding that the step sees, not the one kept.
                for member in self.groups[tensor]:
                    if member != tensor:
                        self._assign(self.tensors.of_value[member], number, op)
                        self._notify(member, op)

    def _tell(
        self,
        observer: Observer,
        op: int,
        tensors: tuple[int, ...],
        this_round: Round,
        state: int,
        changes: int,
    ) -> None:
        """Tell the observer of a step that changes something."""
        case, known = self._steps.case(state), self.tensors.interner.known
        new = tuple(
            [(position, known(number)) for position, number in self._steps.changes_of(changes)]
        )
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

    def _assign(self, tensor: i64, number: i64, source: i64) -> None:
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
                self._mark_all(self._visits.not_visited(tensor))

    def _notify(self, tensor: i64, source: i64) -> None:
        """Put the ops that a changed tensor touches on top of those that wait, but for one."""
        owner = self._visits.owners[tensor]
        if owner == NOTHING:
            for op in self._visits.after_change(tensor):
                self._queue(op, source)
            return
        of_op, users = self.classes.of_op, self.graph.users
        if of_op[owner] != NO_CLASS:
            self._queue(owner, source)
        items, start = users.items, users.starts[tensor]
        place = users.starts[tensor + 1]
        while place > start:
            place -= 1
            if of_op[items[place]] != NO_CLASS:
                self._queue(items[place], source)

    def _queue(self, op: i64, source: i64) -> None:
        """Put an op on top of those that wait, if it has had its first turn."""
        self._states[op] = _STALE
        if op <= self._position and op != source and not self._waiting[op]:
            self._put_on_top(op)

    def _put_on_top(self, op: i64) -> None:
        self._waiting[op] = 1
        self._stack[self._stack_size] = op
        self._stack_size += 1

    def _note(self, tensor: i64) -> None:
        """Note which ops meet another sharding of a tensor, without a turn for those behind."""
        owner = self._visits.owners[tensor]
        if owner == NOTHING:
            self._mark_all(self._visits.after_change(tensor))
        else:
            self._mark(owner)
            users = self.graph.users
            for place in range(users.starts[tensor], users.starts[tensor + 1]):
                self._mark(users.items[place])
        if self._visits.leaves_some_out:
            self._mark_all(self._visits.not_visited(tensor))

    def _mark_all(self, ops: Iterable[int]) -> None:
        for op in ops:
            self._mark(op)

    def _mark(self, op: i64) -> None:
        if self.classes.of_op[op] != NO_CLASS:
            self._states[op] = _STALE

    # Function results.

    def _find_returned(self, main: int) -> None:
        """Find for each result of main the class of its step, the value and the result.

        There are none where main has no body, or does not return.
        """
        bodies = self.graph.structure.bodies.get(main)
        terminator = bodies[0][2] if bodies else NOTHING
        if terminator == NOTHING or self.graph.names[terminator] != RETURN:
            return
        pairs: list[tuple[int, int]] = []
        for value, result in zip(
            self.graph.operands[terminator], self.tensors.result_tensors[main], strict=True
        ):
            number = self.classes.identity(self.graph.type_of(value))
            if number != NO_CLASS:
                self._returned_classes.append(number)
                pairs.append((int(self.tensors.of_value[value]), result))
        self._returned = rows_of(pairs)

    def _share_with_results(self, strategy: Strategy) -> None:
        """Make each value that main returns and main's result agree, without queueing anything."""
        everything = Round(strategy, ALL_OPS)
        self._steps.begin(everything)
        pairs = self._returned
        for index, op_class in enumerate(self._returned_classes):
            state = self._steps.state(op_class, 0, pairs, index, self.tensors.shardings)
            changes = self._steps.changes(state)
            if not changes:
                continue
            value, result = pairs[index]
            if self._observer is not None:
                pair = value, result
                self._tell(self._observer, self._main, pair, everything, state, changes)
            changed = self._steps.changed
            for place in range(changed.starts[changes], changed.starts[changes + 1], 2):
                number = changed.items[place + 1]
                if changed.items[place] == 1:
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
            if producer is None or producer > self._position or self._waiting[producer]:
                continue
            self._put_on_top(producer)

    def _use_count_changed(self, user: int) -> None:
        op_class = self.classes.of_op[user]
        if op_class == NO_CLASS or not self._counts_uses[op_class]:
            return
        uses = int(self.dead_ops.has_shared_operand(user))
        if uses != self._multiple_uses[user]:
            self._multiple_uses[user] = uses
            self._mark(user)

    def _with_multiple_uses(self) -> vec[i64]:
        """Return for each op 1 where operands have more uses and that counts, otherwise 0."""
        of_op, counts_uses = self.classes.of_op, self._counts_uses
        uses = self.dead_ops.ops_with_shared_operand()
        for op in range(i64(len(uses))):
            if of_op[op] == NO_CLASS or counts_uses[of_op[op]] == 0:
                uses[op] = 0
        return uses

    # Between rounds, and at the end.

    def reassign(self, tensor: int, sharding: TensorSharding) -> None:
        """Set the sharding of one tensor between rounds."""
        self._assign(tensor, self.tensors.interner.number(sharding), _NOBODY)

    def is_gone(self, tensor: int) -> bool:
        """Return whether the op that gives the tensor has been erased."""
        producer = self.graph.producers[tensor] if tensor < self.graph.value_count else -1
        return producer >= 0 and bool(self.dead_ops.is_erased[producer])

    def write_shardings(self) -> None:
        """Write the shardings that changed into the module."""
        attributes, numbers = self.tensors.write_back(self.dead_ops.is_erased)
        self._module.set_numbered_attributes(SHARDING, attributes, numbers)

    def erase_dead_ops(self) -> None:
        """Erase the dead ops from the module, after which numbers of ops mean others."""
        is_erased = self.dead_ops.is_erased
        self._module.drop_numbered([op for op, gone in enumerate(is_erased) if gone])
        for op in self.dead_ops.erased:
            self.graph.ops[op].erase()
