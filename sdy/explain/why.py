"""The answer to why a tensor is sharded so: from whose annotation each axis came, and which way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sdy.dialect.names import factor_symbol
from sdy.explain.annotations import Annotations
from sdy.explain.history import History
from sdy.explain.locations import NOWHERE
from sdy.explain.naming import Naming
from sdy.ir.op_names import FUNCTION

if TYPE_CHECKING:
    from sdy.dialect.axes import AxisRef
    from sdy.explain.annotations import Annotation
    from sdy.explain.history import Event
    from sdy.explain.locations import Place
    from sdy.explain.record import Record
    from sdy.explain.traced import Traced

__all__ = ["Arrival", "Chain", "Chains", "Move", "MoveDirection"]

MoveDirection = Literal["forward", "backward", "sideways", "group", "result"]


@dataclass(frozen=True, slots=True)
class Move:
    """A step of propagation by which an axis went from one tensor of an op to another.

    Attributes:
      op: the number of the op; None where it is not in the program any more.
      op_name: the name that it had.
      place: where it comes from.
      factor: the factor of its sharding rule along which the axis went, as rules print it.
      direction: `forward` from an operand to a result, `backward` the other way, `sideways` from
        operand to operand or from result to result, `group` to another member of a sharding
        group, `result` between a result of main and the value that is returned there.
      user_priority: that of the round.
      op_priority: that of the round, from 0.
      strategy: how conflicts were met in it: `basic` or `aggressive`.

    """

    op: int | None
    op_name: str
    place: Place
    factor: str
    direction: MoveDirection
    user_priority: int
    op_priority: int
    strategy: str


@dataclass(frozen=True, slots=True)
class Arrival:
    """An axis at a dimension of a tensor, and how it came there.

    Attributes:
      value: the number of the value; None where it is not in the program any more.
      name: its name; what stands for it where it is not in the program.
      label: what the source calls it; '' where the program does not keep that.
      dim: the dimension.
      axis: the axis.
      move: the step that brought it; None where it starts here.
      annotation: the annotation that it starts from; None where it was brought.

    """

    value: int | None
    name: str
    label: str
    dim: int
    axis: AxisRef
    move: Move | None = None
    annotation: Annotation | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    """The way of an axis, from an annotation to the dimension that was asked about.

    Attributes:
      arrivals: the stations in order; the last is what was asked about.

    """

    arrivals: tuple[Arrival, ...]

    @property
    def annotation(self) -> Annotation | None:
        """Where the axis comes from."""
        return self.arrivals[0].annotation

    @property
    def end(self) -> Arrival:
        """What was asked about."""
        return self.arrivals[-1]


class Chains:
    """Finds the chains in a record, and tells of them in terms of the program.

    Attributes:
      naming: the names of ops and tensors.
      annotations: what the program itself says.
      history: the flows of the recorded steps.

    """

    def __init__(self, traced: Traced, record: Record) -> None:
        self._record = record
        self._moves: dict[tuple[int, int, MoveDirection], Move] = {}
        self.naming = Naming(traced, record)
        self.annotations = Annotations(traced, record, self.naming)
        self.history = History(record)

    def chain(self, tensor: int, dim: int, axis: AxisRef) -> Chain:
        """Return how an axis came to a dimension of a tensor of the record."""
        events = self.history.chain(tensor, dim, axis)
        start = (events[0].source, events[0].source_dim) if events else (tensor, dim)
        arrivals = [self._start(*start, axis)]
        arrivals += [self._arrival(e.tensor, e.dim, axis, self._move(e)) for e in events]
        return Chain(tuple(arrivals))

    def _arrival(self, tensor: int, dim: int, axis: AxisRef, move: Move) -> Arrival:
        value = self.naming.value_of(tensor)
        if value is None:
            return Arrival(None, self.naming.name_of(tensor), "", dim, axis, move=move)
        return Arrival(value.number, value.spelling, value.label, dim, axis, move=move)

    def _move(self, event: Event) -> Move:
        if event.flow is None:
            return Move(None, "sdy.sharding_group", NOWHERE, "", "group", 0, 0, "")
        direction = self._direction(event)
        key = (event.step, event.flow.factor, direction)
        known = self._moves.get(key)
        if known is None:
            step = self._record.steps[event.step]
            known = self._moves[key] = Move(
                self.naming.op_of(step.op),
                self.naming.op_name(step.op),
                self.naming.place_of(step.op),
                factor_symbol(event.flow.factor),
                direction,
                step.user_priority,
                step.op_priority,
                step.case.strategy.value,
            )
        return known

    def _direction(self, event: Event) -> MoveDirection:
        step, flow = self._record.steps[event.step], event.flow
        if flow is None:
            return "group"
        if self._record.op_names[step.op] == FUNCTION:
            return "result"
        count = len(step.case.op.rule.operands)
        if flow.source < count <= flow.target:
            return "forward"
        return "backward" if flow.target < count <= flow.source else "sideways"

    def last(
        self, tensor: int, dim: int, axis: AxisRef, before: int | None = None
    ) -> tuple[Arrival, Event | None]:
        """Return one station of a chain, and what brought the axis there; None at the start.

        Args:
          tensor: the tensor.
          dim: the dimension.
          axis: the axis.
          before: the step before which it came there; None for the end.

        """
        end = len(self._record.steps) if before is None else before
        event = self.history.arrival(tensor, dim, axis, end)
        if event is None:
            return self._start(tensor, dim, axis), None
        return self._arrival(tensor, dim, axis, self._move(event)), event

    def _start(self, tensor: int, dim: int, axis: AxisRef) -> Arrival:
        value, said = self.naming.value_of(tensor), self.annotations.of(tensor, axis)
        if value is None:
            return Arrival(None, self.naming.name_of(tensor), "", dim, axis, annotation=said)
        return Arrival(value.number, value.spelling, value.label, dim, axis, annotation=said)
