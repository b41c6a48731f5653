"""The annotations that kept an axis from going through an op, and what they could say instead."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sdy.dialect.sharding import DimensionSharding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.sharding import TensorSharding
    from sdy.explain.program import Value
    from sdy.explain.traced import Traced
    from sdy.explain.why_not import Conflict

__all__ = ["rival_annotations"]


def rival_annotations(
    traced: Traced, value: int, op: int
) -> Iterator[tuple[Value, TensorSharding]]:
    """Yield the values with annotations that won against axes of an operand, and others for them.

    Those leave the axis that won out, and the dimension open: then the axis that lost may come.

    Args:
      traced: the program.
      value: the number of the operand.
      op: the number of the op.

    """
    taken = traced.program.ops[op]
    for number in (*taken.results, *taken.operands):
        for conflict in _conflicts(traced, number):
            annotation, winner = conflict.annotation, conflict.winner
            is_meant = (conflict.source, conflict.op) == (value, op)
            if not is_meant or winner is None or annotation is None:
                continue
            if annotation.value is not None and annotation.sharding is not None:
                rival = traced.program.values[annotation.value]
                yield rival, _opened(annotation.sharding, winner.axis)


def _conflicts(traced: Traced, value: int) -> Iterator[Conflict]:
    """Yield what axes came near the dimensions of a value and were stopped."""
    tensor = traced.correspondence.tensor_by_value.get(value)
    if traced.inquiry is not None and tensor is not None:
        for dim in range(len(traced.program.values[value].shape)):
            yield from traced.inquiry.conflicts.around(tensor, dim)


def _opened(sharding: TensorSharding, axis: AxisRef) -> TensorSharding:
    """Return a sharding without an axis, open in the dimension that the axis splits."""
    dimensions = [
        DimensionSharding(is_closed=False)
        if any(own.overlaps(axis) for own in dimension.axes)
        else dimension
        for dimension in sharding.dimensions
    ]
    return replace(sharding, dimensions=tuple(dimensions))
