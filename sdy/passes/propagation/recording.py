"""What propagation did, step by step, for those who ask afterwards why a tensor is sharded so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sdy.passes.propagation.step import Change
    from sdy.passes.propagation.step_case import StepCase

__all__ = ["Observer", "RecordedStep", "Recording"]


class Observer(Protocol):
    """Is told by the engine of every step that changes something, in order."""

    def step_taken(
        self,
        op: int,
        tensors: tuple[int, ...],
        op_priority: int,
        case: StepCase,
        changes: tuple[Change, ...],
    ) -> None:
        """Tell of one step.

        Args:
          op: the number of the op in the graph; the main function's where one of its results
            and the value that it returns there are made to agree.
          tensors: those of the step, operands first.
          op_priority: that of the round.
          case: what the step depends on; one object for all steps of the same case.
          changes: the new shardings, by position in `tensors`.

        """


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """One step that changed something.

    Attributes:
      op: the number of the op in the graph; the main function's for a step between one of its
        results and the value that it returns there.
      tensors: those of the step, operands first.
      user_priority: that of the round.
      op_priority: that of the round.
      case: rule, strategy, directions, and the shardings before the step.
      changes: the new shardings, by position in `tensors`.

    """

    op: int
    tensors: tuple[int, ...]
    user_priority: int
    op_priority: int
    case: StepCase
    changes: tuple[Change, ...]


class Recording:
    """An observer that keeps all steps.

    Attributes:
      steps: the steps, in order.
      user_priority: that of the steps to come.

    """

    def __init__(self) -> None:
        self.steps: list[RecordedStep] = []
        self.user_priority = 0

    def step_taken(
        self,
        op: int,
        tensors: tuple[int, ...],
        op_priority: int,
        case: StepCase,
        changes: tuple[Change, ...],
    ) -> None:
        """Keep a step."""
        self.steps.append(RecordedStep(op, tensors, self.user_priority, op_priority, case, changes))
