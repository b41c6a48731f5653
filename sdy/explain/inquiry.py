"""Works out the answers about one value from the record of a propagation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.dialect.axes import axes_size
from sdy.explain.answers import Removal, Why, WhyNot
from sdy.explain.why import Chains
from sdy.explain.why_not import Conflicts
from sdy.ir.data_flow import DATA_FLOW_EDGE, DATA_FLOW_OPS
from sdy.ir.op_names import CALL, GROUP, RESHARD, RETURN, SDY_RETURN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sdy.dialect.axes import AxisRef
    from sdy.explain.annotations import Annotation
    from sdy.explain.program import Op, Value
    from sdy.explain.record import Record
    from sdy.explain.traced import Traced
    from sdy.explain.why import Chain

__all__ = ["Inquiry"]

# Ops without a rule of their own through which shardings go all the same, or that end a body.
_WITHOUT_RULES = DATA_FLOW_OPS | {
    CALL,
    DATA_FLOW_EDGE,
    GROUP,
    RETURN,
    SDY_RETURN,
    "stablehlo.return",
}


class Inquiry:
    """Answers about the values of a program.

    Attributes:
      chains: finds how axes came to tensors.
      conflicts: finds what kept axes from tensors.

    """

    def __init__(self, traced: Traced, record: Record) -> None:
        self._program = traced.program
        self._correspondence = traced.correspondence
        self._record = record
        self.chains = Chains(traced, record)
        self.conflicts = Conflicts(self.chains, record)

    def why(
        self,
        value: Value,
        dims: Sequence[int],
        axis: AxisRef | None = None,
        *,
        is_near: bool = False,
    ) -> Why:
        """Return why a value is sharded as it is.

        Args:
          value: the value.
          dims: the dimensions to tell of.
          axis: the axis to tell of; None for all.
          is_near: whether to look for conflicts only at the ops of the value.

        """
        op = None if value.op is None else self._program.ops[value.op]
        came_from = self._came_from(value, op)
        tensor = self._correspondence.tensor_by_value.get(value.number)
        if tensor is None:
            needed_by = self._program.users(value.number) if came_from else ()
            return Why(value, op, (), (), came_from=came_from, needed_by=needed_by)
        chains: list[Chain] = []
        why_not: list[WhyNot] = []
        for dim in dims:
            found = self.chains_of(tensor, dim, axis)
            chains += found
            if not found:
                why_not.append(self._why_not(value, tensor, dim, axis, is_near=is_near))
        removed = tuple(self._removed(value, tensor, dims))
        return Why(value, op, tuple(chains), tuple(why_not), removed)

    def _came_from(self, value: Value, op: Op | None) -> Value | None:
        """Return the value that a reshard has brought to another sharding that the export made."""
        known = self._correspondence.tensor_by_value
        came_from = value
        while op is not None and came_from.number not in known and op.name == RESHARD:
            came_from = self._program.values[op.operands[0]]
            op = None if came_from.op is None else self._program.ops[came_from.op]
        return None if came_from is value else came_from

    def axes_of(self, tensor: int, dim: int) -> tuple[AxisRef, ...]:
        """Return the axes by which propagation left a dimension split."""
        sharding = self._record.shardings[tensor]
        if sharding is None or dim >= len(sharding.dimensions):
            return ()
        return sharding.dimensions[dim].axes

    def chains_of(self, tensor: int, dim: int, axis: AxisRef | None = None) -> list[Chain]:
        """Return how the axes came to a dimension."""
        return [
            self.chains.chain(tensor, dim, own)
            for own in self.axes_of(tensor, dim)
            if axis is None or own.overlaps(axis)
        ]

    def _why_not(
        self, value: Value, tensor: int, dim: int, axis: AxisRef | None, *, is_near: bool
    ) -> WhyNot:
        near = self._returned(value, tensor)
        conflicts = self.conflicts.around(near, dim)
        if not conflicts and not is_near:
            conflicts = self.conflicts.nearest(near, dim)
        conflicts = [
            conflict
            for conflict in conflicts
            if not any(axis.name in value.manual_axes for axis in conflict.axes)
        ]
        used_in = None
        if axis is not None:
            conflicts = [c for c in conflicts if any(a.overlaps(axis) for a in c.axes)]
            dims = range(len(value.shape))
            others = (d for d in dims if any(a.overlaps(axis) for a in self.axes_of(tensor, d)))
            used_in = next(others, None)
        return WhyNot(
            dim,
            axis,
            tuple(conflicts),
            self.closed_by(tensor, dim),
            used_in,
            self.conflicts.is_tied(near, dim),
            tuple(dict.fromkeys(self._without_rule(value))),
        )

    def _returned(self, value: Value, tensor: int) -> int:
        """Return the tensor that is returned as a function's result; of other values, their own."""
        function = next((f for f in self._program.functions if value.number in f.results), None)
        if function is None:
            return tensor
        for number in reversed(function.ops):
            op = self._program.ops[number]
            if op.name == RETURN:
                returned = op.operands[value.number - function.results[0]]
                return self._correspondence.tensor_by_value.get(returned, tensor)
        return tensor

    def closed_by(self, tensor: int, dim: int) -> Annotation | None:
        """Return the annotation that closes a dimension; None where it is open."""
        annotated = self._record.annotated[tensor]
        if annotated is None or dim >= len(annotated.dimensions):
            return None
        return self.chains.annotations.of(tensor) if annotated.dimensions[dim].is_closed else None

    def _without_rule(self, value: Value) -> Iterator[str]:
        """Yield the names of the ops around a value that have no sharding rule."""
        around = [] if value.op is None else [self._program.ops[value.op]]
        around += self._program.users(value.number)
        for op in around:
            is_silent = op.name in _WITHOUT_RULES or not op.operands or op.mark is None
            if op.mark is not None and not is_silent and self._record.classes[op.mark] is None:
                yield f"{op.name} @{op.target}" if op.target else op.name

    def _removed(self, value: Value, tensor: int, dims: Sequence[int]) -> Iterator[Removal]:
        """Yield what the export took away from the value again."""
        propagated = self._record.shardings[tensor]
        if propagated is None or value.sharding is None:
            return
        for dim in dims:
            now = value.sharding.dimensions[dim].axes if value.sharding.dimensions else ()
            axes = self.axes_of(tensor, dim)
            lost = tuple(a for a in axes if not any(own.overlaps(a) for own in now))
            if lost:
                parts = axes_size(axes, propagated.bound_mesh)
                yield Removal(dim, lost, value.shape[dim], parts)
