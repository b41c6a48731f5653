"""The steps taken so far: each is taken once and looked up ever after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdy.passes.propagation.op_priorities import factor_directions
from sdy.passes.propagation.step import StepCase, take_step

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sdy.passes.propagation.direction import Direction
    from sdy.passes.propagation.step import OpClass
    from sdy.passes.propagation.strategies import Strategy
    from sdy.passes.propagation.tensors import Interner

__all__ = ["NO_STATE", "Changes", "Round", "Steps"]

NO_STATE = 0

Changes = tuple[tuple[int, int], ...]
"""The positions of the tensors that a step changes, and their new shardings."""


@dataclass(frozen=True, slots=True)
class Round:
    """What one sweep over the ops allows.

    Attributes:
      strategy: how conflicts are met.
      op_priority: which ops take part, and in which direction.

    """

    strategy: Strategy
    op_priority: int


class Steps:
    """The memory of all steps.

    An op's kind is its class, and whether operands of it have more uses than one. Its state is
    its kind and the shardings that it meets. Kinds, states and shardings are numbers; state 0 is
    that of all ops none of whose tensors has a sharding.
    """

    def __init__(self, classes: Sequence[OpClass], interner: Interner) -> None:
        self._classes = classes
        self._interner = interner
        self._numbers: dict[int, dict[tuple[int, ...], int]] = {}
        self._states: list[tuple[int, tuple[int, ...]] | None] = [None]
        self._changes: dict[Round, dict[int, Changes]] = {}
        self._directions: dict[tuple[int, int], tuple[Direction, ...]] = {}
        self._taken: dict[
            tuple[int, Strategy, tuple[Direction, ...], tuple[int, ...]], Changes
        ] = {}
        self._cases: dict[tuple[Round, int], StepCase] = {}

    @property
    def state_count(self) -> int:
        """The number of distinct states."""
        return len(self._states)

    @staticmethod
    def kind(op_class: int, *, multiple_uses: bool) -> int:
        """Return the kind of an op."""
        return 2 * op_class + multiple_uses

    def known_states(self, kind: int) -> Mapping[tuple[int, ...], int]:
        """Return the states of a kind by shardings, as far as they have been met."""
        by_shardings = self._numbers.get(kind)
        if by_shardings is None:
            by_shardings = self._numbers[kind] = {}
        return by_shardings

    def state(self, kind: int, shardings: tuple[int, ...]) -> int:
        """Return the state of an op of a kind that meets `shardings`."""
        by_shardings = self._numbers.get(kind)
        if by_shardings is None:
            by_shardings = self._numbers[kind] = {}
        number = by_shardings.get(shardings)
        if number is None:
            number = NO_STATE
            if any(shardings):
                number = len(self._states)
                self._states.append((kind, shardings))
            by_shardings[shardings] = number
        return number

    def known_changes(self, this_round: Round) -> Mapping[int, Changes]:
        """Return the steps of a round by state, as far as they have been taken."""
        return self._changes.setdefault(this_round, {})

    def changes(self, this_round: Round, state: int) -> Changes:
        """Return what the step of an op in `state` changes."""
        by_state = self._changes.setdefault(this_round, {})
        known = by_state.get(state)
        if known is None:
            known = by_state[state] = self._compute(this_round, state)
        return known

    def _compute(self, this_round: Round, state: int) -> Changes:
        key = self._states[state]
        if key is None:
            return ()
        kind, shardings = key
        directions = self._factor_directions(kind, this_round.op_priority)
        step = (kind // 2, this_round.strategy, directions, shardings)
        known = self._taken.get(step)
        if known is None:
            changes = take_step(self._case(this_round, kind, shardings))
            known = self._taken[step] = tuple(
                (position, self._interner.number(new)) for position, new in changes
            )
        return known

    def case(self, this_round: Round, state: int) -> StepCase:
        """Return what the step of an op in `state` depends on, one object for each case."""
        known = self._cases.get((this_round, state))
        if known is None:
            key = self._states[state]
            if key is None:
                raise ValueError("an op none of whose tensors has a sharding takes no step")
            known = self._cases[this_round, state] = self._case(this_round, *key)
        return known

    def _case(self, this_round: Round, kind: int, shardings: tuple[int, ...]) -> StepCase:
        return StepCase(
            self._classes[kind // 2],
            this_round.strategy,
            self._factor_directions(kind, this_round.op_priority),
            tuple([self._interner.sharding(number) for number in shardings]),
        )

    def _factor_directions(self, kind: int, priority: int) -> tuple[Direction, ...]:
        known = self._directions.get((kind, priority))
        if known is None:
            op_class = self._classes[kind // 2]
            known = self._directions[kind, priority] = factor_directions(
                op_class.rule, op_class.flow, priority, multiple_uses=bool(kind % 2)
            )
        return known
