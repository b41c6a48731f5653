"""How each axis came to each tensor: the flows of all recorded steps, by what they reached."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from sdy.passes.propagation.axis_flows import step_flows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.sharding_rule import OpShardingRule
    from sdy.explain.record import Record
    from sdy.passes.propagation.axis_flows import AxisFlow
    from sdy.passes.propagation.recording import RecordedStep
    from sdy.passes.propagation.step_case import StepCase

__all__ = ["BEFORE", "Event", "History", "dimension_of_factor"]

BEFORE = -1
"""The step of what happened before the first."""


@dataclass(frozen=True, slots=True)
class Event:
    """An axis came to a dimension of a tensor.

    Attributes:
      step: the number of the step; `BEFORE` for a sharding group that agreed before the first.
      axis: the axis.
      tensor: the tensor that got it.
      dim: the dimension.
      source: the tensor that it came from.
      source_dim: the dimension of that.
      flow: what the step moved; None where another member of the sharding group got the axis.

    """

    step: int
    axis: AxisRef
    tensor: int
    dim: int
    source: int
    source_dim: int
    flow: AxisFlow | None

    @property
    def end(self) -> int:
        """The step before which the source had the axis."""
        # The other members of a sharding group get an axis within the same step.
        return self.step if self.flow is not None else self.step + 1


class History:
    """What is recorded of a propagation, by tensor."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._flows: dict[StepCase, tuple[AxisFlow, ...]] = {}

    def flows(self, step: RecordedStep) -> tuple[AxisFlow, ...]:
        """Return what a step moved."""
        known = self._flows.get(step.case)
        if known is None:
            known = self._flows[step.case] = step_flows(step.case)
        return known

    @cached_property
    def events(self) -> dict[int, list[Event]]:
        """What came to each tensor, in order."""
        events: dict[int, list[Event]] = {}
        for event in (*self._initial_agreements(), *self._events()):
            events.setdefault(event.tensor, []).append(event)
        return events

    def _initial_agreements(self) -> Iterator[Event]:
        """Yield what members of sharding groups got from each other before the first step."""
        annotated = self._record.annotated
        for tensor, members in self._record.groups.items():
            sharding = annotated[tensor]
            if sharding is None:
                continue
            for dim, dimension in enumerate(sharding.dimensions):
                for axis in dimension.axes:
                    for member in members:
                        if member != tensor and not self.is_annotated(member, dim, axis):
                            yield Event(BEFORE, axis, member, dim, tensor, dim, None)

    def _events(self) -> Iterator[Event]:
        groups = self._record.groups
        for number, step in enumerate(self._record.steps):
            rule = step.case.op.rule
            for flow in self.flows(step):
                tensor = step.tensors[flow.target]
                dim = dimension_of_factor(rule, flow.target, flow.factor)
                source_dim = dimension_of_factor(rule, flow.source, flow.factor)
                source = step.tensors[flow.source]
                yield Event(number, flow.axis, tensor, dim, source, source_dim, flow)
                for member in groups.get(tensor, ()):
                    if member != tensor:
                        yield Event(number, flow.axis, member, dim, tensor, dim, None)

    def is_annotated(self, tensor: int, dim: int, axis: AxisRef) -> bool:
        """Return whether the program itself says that the axis, or a part, splits the dimension."""
        return any(own.overlaps(axis) for own in self._annotated_axes(tensor, dim))

    def _annotated_axes(self, tensor: int, dim: int) -> tuple[AxisRef, ...]:
        sharding = self._record.annotated[tensor]
        if sharding is None or dim >= len(sharding.dimensions):
            return ()
        return sharding.dimensions[dim].axes

    def arrival(self, tensor: int, dim: int, axis: AxisRef, before: int) -> Event | None:
        """Return how the axis came to the dimension before a step.

        Where it came in parts, the step that made it whole; where it never was whole, the first
        of a part. None where it was there from the beginning.
        """
        came = [e for e in self.events.get(tensor, ()) if e.step < before and e.dim == dim]
        if axis not in self._annotated_axes(tensor, dim):
            for event in came:
                if event.axis == axis:
                    return event
        if not self.is_annotated(tensor, dim, axis):
            for event in came:
                if event.axis.overlaps(axis):
                    return event
        return None

    def chain(self, tensor: int, dim: int, axis: AxisRef) -> list[Event]:
        """Return how the axis came to the dimension: the way from its annotation, in order."""
        chain: list[Event] = []
        before = len(self._record.steps)
        while (event := self.arrival(tensor, dim, axis, before)) is not None:
            chain.append(event)
            tensor, dim, before = event.source, event.source_dim, event.end
        chain.reverse()
        return chain


def dimension_of_factor(rule: OpShardingRule, position: int, factor: int) -> int:
    """Return which dimension of a tensor of an op has a factor."""
    dimensions = rule.tensors[position].dimensions
    return next(dim for dim, mapping in enumerate(dimensions) if factor in mapping.factors)
