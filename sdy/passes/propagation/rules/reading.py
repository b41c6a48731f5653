"""What rules read of an op: shapes and integer attributes."""

from __future__ import annotations

from jaxlib.mlir import ir

__all__ = ["integer", "integers", "rank", "shape"]


def shape(value: ir.Value) -> tuple[int, ...]:
    """Return the dimension sizes of a ranked tensor; () of anything else, such as a token."""
    value_type = value.type
    if isinstance(value_type, ir.ShapedType) and value_type.has_rank:
        return tuple(value_type.shape)
    return ()


def rank(value: ir.Value) -> int:
    """Return the number of dimensions of a ranked tensor; 0 of anything else."""
    value_type = value.type
    is_ranked = isinstance(value_type, ir.ShapedType) and value_type.has_rank
    return int(value_type.rank) if is_ranked else 0


def integers(op: ir.Operation, name: str) -> tuple[int, ...] | None:
    """Return the elements of an array or dense attribute, flat; None where the op lacks it."""
    elements = op.attributes.get(name)
    if elements is None:
        return None
    # By index, because the end of an iteration over an attribute is an exception, and slow.
    return tuple([elements[index] for index in range(len(elements))])


def integer(op: ir.Operation, name: str) -> int:
    """Return the value of an `i64` attribute that the op must have."""
    return int(ir.IntegerAttr(op.attributes[name]).value)
