"""The steps taken so far: each is taken once and looked up ever after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from librt.vecs import append, extend, vec
from mypy_extensions import i64

from sdy.ir.rows import Rows, filled, packed
from sdy.passes.propagation.direction import Direction
from sdy.passes.propagation.op_priorities import factor_directions
from sdy.passes.propagation.sequences import Sequences
from sdy.passes.propagation.step import take_step
from sdy.passes.propagation.step_case import StepCase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.passes.propagation.interner import Interner
    from sdy.passes.propagation.step_case import OpClass, Round, Strategy

__all__ = ["NO_STATE", "Changes", "Steps"]

NO_STATE: Final = 0

Changes = tuple[tuple[int, int], ...]
"""The positions of the tensors that a step changes, and their new shardings."""

_UNKNOWN: Final = -1
_NO_CHANGE: Final = 0
_FIRST: Final = 2  # the state of the first step


def _step_of(state: i64) -> tuple[i64, i64]:
    """Return the step of a state, and 1 where its operands have more uses, otherwise 0."""
    return (state - _FIRST) >> 1, (state - _FIRST) & 1


class _Known:
    """What is known so far, by number; _UNKNOWN where it is not."""

    def __init__(self) -> None:
        self.values = vec[i64]()

    def get(self, number: i64) -> i64:
        """Return what is known for a number."""
        values = self.values
        return values[number] if number < len(values) else _UNKNOWN

    def set(self, number: i64, value: i64) -> None:
        """Note what is known for a number from now on."""
        missing = number + 1 - len(self.values)
        if missing > 0:
            self.values = extend(self.values, filled(_UNKNOWN, missing + number))
        self.values[number] = value


class Steps:
    """The memory of all steps.

    A step is an op's class and the shardings that the op meets. An op's state is its step, and
    whether operands of it have more uses than one. Classes, steps, states and shardings are
    numbers; state 0 is that of all ops none of whose tensors has a sharding. What steps change
    is numbered, too: 0 is no change.

    Attributes:
      changed: for each number of changes, the positions of tensors and their new shardings in
        turn.

    """

    def __init__(self, classes: Sequence[OpClass], interner: Interner) -> None:
        self._classes = classes
        self._interner = interner
        self._steps = Sequences()
        self.changed = Rows(vec[i64]([0, 0]), vec[i64]())
        self._changes: dict[Round, _Known] = {}
        self._known = _Known()
        self._ways: dict[int, dict[int, _Way]] = {}
        self._way_numbers: dict[tuple[Direction, ...], int] = {}
        self._taken: dict[Strategy, dict[int, _Known]] = {}
        self._cases: dict[tuple[Round, int], StepCase] = {}

    def state(
        self, op_class: i64, multiple_uses: i64, tensors: Rows, op: i64, shardings: vec[i64]
    ) -> i64:
        """Return the state of an op.

        Args:
          op_class: its class.
          multiple_uses: 1 where operands of it have more uses than one, otherwise 0.
          tensors: those of each op.
          op: the op.
          shardings: of each tensor.

        """
        items = tensors.items
        any_sharding: i64 = 0
        for place in range(tensors.starts[op], tensors.starts[op + 1]):
            any_sharding |= shardings[items[place]]
        if any_sharding == 0:
            return NO_STATE
        return 2 * self._steps.number(op_class, tensors, op, shardings) + multiple_uses + _FIRST

    def state_of(self, op_class: int, multiple_uses: int, shardings: Sequence[int]) -> i64:
        """Return the state of an op that meets `shardings`; see `state`."""
        numbers = packed(shardings)
        each = Rows(vec[i64]([0, len(numbers)]), packed(range(len(numbers))))
        return self.state(op_class, multiple_uses, each, 0, numbers)

    def begin(self, this_round: Round) -> None:
        """Begin a round, which `changes` and `case` speak of from now on."""
        self._round = this_round
        self._known = self._changes.setdefault(this_round, _Known())
        self._known_ways = self._ways.setdefault(this_round.op_priority, {})
        self._known_steps = self._taken.setdefault(this_round.strategy, {})

    def changes(self, state: i64) -> i64:
        """Return the number of what the step of an op in `state` changes."""
        known = self._known.get(state)
        if known == _UNKNOWN:
            known = _NO_CHANGE if state == NO_STATE else self._compute(state)
            self._known.set(state, known)
        return known

    def _compute(self, state: i64) -> i64:
        step, multiple_uses = _step_of(state)
        way = self._way(self._op_class(step), multiple_uses)
        if not way.leads_anywhere:
            return _NO_CHANGE
        taken = self._known_steps.get(way.number)
        if taken is None:
            taken = self._known_steps[way.number] = _Known()
        known = taken.get(step)
        if known == _UNKNOWN:
            known = self._take(step, way)
            taken.set(step, known)
        return known

    def _take(self, step: i64, way: _Way) -> i64:
        changes = take_step(self._case(step, way))
        if not changes:
            return _NO_CHANGE
        rows = self.changed
        for position, new in changes:
            rows.items = append(rows.items, position)
            rows.items = append(rows.items, self._interner.number(new))
        rows.starts = append(rows.starts, len(rows.items))
        return len(rows.starts) - 2

    def changes_of(self, number: int) -> Changes:
        """Return what a number of changes stands for."""
        row = self.changed[number]
        return tuple(zip(row[::2], row[1::2], strict=True))

    def case(self, state: int) -> StepCase:
        """Return what the step of an op in `state` depends on, one object for each case."""
        known = self._cases.get((self._round, state))
        if known is None:
            if state == NO_STATE:
                raise ValueError("an op none of whose tensors has a sharding takes no step")
            step, multiple_uses = _step_of(state)
            way = self._way(self._op_class(step), multiple_uses)
            known = self._cases[self._round, state] = self._case(step, way)
        return known

    def _op_class(self, step: i64) -> i64:
        rows = self._steps.rows
        return rows.items[rows.starts[step]]

    def _case(self, step: int, way: _Way) -> StepCase:
        op_class, *shardings = self._steps.rows[step]
        return StepCase(
            self._classes[op_class],
            self._round.strategy,
            way.directions,
            tuple([self._interner.sharding(number) for number in shardings]),
        )

    def _way(self, op_class: i64, multiple_uses: i64) -> _Way:
        """Return where the axes of ops of a class may go in this round."""
        kind = int(2 * op_class + multiple_uses)
        known = self._known_ways.get(kind)
        if known is None:
            of_class = self._classes[op_class]
            directions = factor_directions(
                of_class.rule,
                of_class.flow,
                self._round.op_priority,
                multiple_uses=bool(multiple_uses),
            )
            number = self._way_numbers.setdefault(directions, len(self._way_numbers))
            known = self._known_ways[kind] = _Way(number, directions)
        return known


class _Way:
    """Where the axes of an op's factors may go.

    Attributes:
      number: equal for equal directions.
      directions: for each factor.
      leads_anywhere: whether there is a direction for any.

    """

    def __init__(self, number: int, directions: tuple[Direction, ...]) -> None:
        self.number = number
        self.directions = directions
        self.leads_anywhere = directions.count(Direction.NONE) < len(directions)
