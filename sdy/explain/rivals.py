"""The annotations that kept an axis from going through an op, and what they could say instead."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sdy.dialect.sharding import DimensionSharding, TensorSharding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sdy.dialect.axes import AxisRef
    from sdy.explain.program import Value
    from sdy.explain.traced import Traced
    from sdy.explain.why_not import Conflict

__all__ = ["rival_annotations"]


def rival_annotations(
    traced: Traced, value: int, op: int
) -> Iterator[tuple[Value, TensorSharding]]:
    """Yield the values with annotations that were in the way of an operand's axes, and others.

    An annotation of the very tensor that the axes did not come to has them there instead. One
    whose axis won leaves it out and is open there, so that the axes that lost may come; of an
    argument or a result all of it is open, as JAX cannot open a part.

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
            if not is_meant or annotation is None:
                continue
            if annotation.value is None or annotation.sharding is None:
                continue
            rival, said = traced.program.values[annotation.value], annotation.sharding
            if conflict.value == rival.number:
                yield rival, _moved(said, conflict.dim, conflict.axes)
            if winner is not None:
                nothing = TensorSharding.fully_open(said.mesh, said.rank)
                yield rival, nothing if rival.op is None else _opened(said, winner.axis)


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


def _moved(sharding: TensorSharding, dim: int, axes: tuple[AxisRef, ...]) -> TensorSharding:
    """Return a sharding with axes in a dimension, and without them elsewhere; all closed."""
    dimensions = [
        replace(
            dimension,
            axes=tuple(own for own in dimension.axes if not any(own.overlaps(a) for a in axes)),
            is_closed=True,
            priority=None,
        )
        for dimension in sharding.dimensions
    ]
    dimensions[dim] = replace(dimensions[dim], axes=axes)
    return replace(sharding, dimensions=tuple(dimensions), replicated=(), unreduced=())
