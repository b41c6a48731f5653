"""The steps taken so far: each is taken once and looked up ever after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.passes.propagation.direction import Direction
from sdy.passes.propagation.op_priorities import factor_directions
from sdy.passes.propagation.step import take_step
from sdy.passes.propagation.step_case import StepCase

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sdy.passes.propagation.step_case import OpClass, Round, Strategy
    from sdy.passes.propagation.tensors import Interner

__all__ = ["NO_STATE", "Changes", "Steps"]

NO_STATE = 0

Changes = tuple[tuple[int, int], ...]
"""The positions of the tensors that a step changes, and their new shardings."""


class Steps:
    """The memory of all steps.

    An op's kind is its class, and whether operands of it have more uses than one. Its state is
    its kind and the shardings that it meets. Kinds, states and shardings are numbers; state 0 is
    that of all ops none of whose tensors has a sharding.
    """

    def __init__(self, classes: Sequence[OpClass], interner: Interner) -> None:
        self._classes = classes
        self._interner = interner
        self._numbers: list[dict[tuple[int, ...], int]] = []
        self._states: list[tuple[int, tuple[int, ...]] | None] = [None]
        self._changes: dict[Round, list[Changes | None]] = {}
        self._ways: dict[int, dict[int, _Way]] = {}
        self._way_numbers: dict[tuple[Direction, ...], int] = {}
        self._taken: dict[Strategy, dict[tuple[int, int, tuple[int, ...]], Changes]] = {}
        self._cases: dict[tuple[Round, int], StepCase] = {}

    @property
    def state_count(self) -> int:
        """The number of distinct states."""
        return len(self._states)

    @staticmethod
    def kind(op_class: int, *, multiple_uses: bool) -> int:
        """Return the kind of an op."""
        return 2 * op_class + multiple_uses

    def known_states(self) -> Sequence[Mapping[tuple[int, ...], int]]:
        """Return for each kind the states by shardings, as far as they have been met."""
        while len(self._numbers) < 2 * len(self._classes):
            self._numbers.append({})
        return self._numbers

    def state(self, kind: int, shardings: tuple[int, ...]) -> int:
        """Return the state of an op of a kind that meets `shardings`."""
        by_shardings = self._numbers[kind]
        number = by_shardings.get(shardings)
        if number is None:
            number = NO_STATE
            if any(shardings):
                number = len(self._states)
                self._states.append((kind, shardings))
                for by_state in self._changes.values():
                    by_state.append(None)
            by_shardings[shardings] = number
        return number

    def begin(self, this_round: Round) -> Sequence[Changes | None]:
        """Begin a round, which `changes` and `case` speak of from now on.

        Returns what its steps change, by state; None for those not taken yet. The list grows
        with the states.
        """
        known = self._changes.get(this_round)
        if known is None:
            known = self._changes[this_round] = [None] * len(self._states)
        self._round = this_round
        self._known = known
        self._known_ways = self._ways.setdefault(this_round.op_priority, {})
        self._known_steps = self._taken.setdefault(this_round.strategy, {})
        return known

    def changes(self, state: int) -> Changes:
        """Return what the step of an op in `state` changes."""
        known = self._known[state]
        if known is None:
            known = self._known[state] = self._compute(state)
        return known

    def _compute(self, state: int) -> Changes:
        key = self._states[state]
        if key is None:
            return ()
        kind, shardings = key
        way = self._way(kind)
        if not way.leads_anywhere:
            return ()
        step = (kind // 2, way.number, shardings)
        known = self._known_steps.get(step)
        if known is None:
            changes = take_step(self._case(kind, shardings))
            number = self._interner.number
            known = tuple([(position, number(new)) for position, new in changes])
            self._known_steps[step] = known
        return known

    def case(self, state: int) -> StepCase:
        """Return what the step of an op in `state` depends on, one object for each case."""
        known = self._cases.get((self._round, state))
        if known is None:
            key = self._states[state]
            if key is None:
                raise ValueError("an op none of whose tensors has a sharding takes no step")
            known = self._cases[self._round, state] = self._case(*key)
        return known

    def _case(self, kind: int, shardings: tuple[int, ...]) -> StepCase:
        return StepCase(
            self._classes[kind // 2],
            self._round.strategy,
            self._way(kind).directions,
            tuple([self._interner.sharding(number) for number in shardings]),
        )

    def _way(self, kind: int) -> _Way:
        """Return where the axes of ops of a kind may go in this round."""
        known = self._known_ways.get(kind)
        if known is None:
            op_class = self._classes[kind // 2]
            directions = factor_directions(
                op_class.rule,
                op_class.flow,
                self._round.op_priority,
                multiple_uses=bool(kind % 2),
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
