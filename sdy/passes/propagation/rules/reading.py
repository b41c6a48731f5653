"""What rules read of an op: shapes and integer attributes.

A call of MLIR's bindings takes as long as all of a rule's arithmetic, so nothing is read twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from jaxlib.mlir import ir

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Shape", "integer", "integers", "rank", "ranks", "shape", "shape_of_type", "shapes"]

Shape: TypeAlias = tuple[int, ...]

_RANKED_TENSOR: Final = ir.RankedTensorType
_SHAPED: Final = ir.ShapedType


def _is_ranked(kind: ir.Type) -> bool:
    return type(kind) is _RANKED_TENSOR or (isinstance(kind, _SHAPED) and kind.has_rank)


def shape_of_type(kind: ir.Type) -> Shape:
    """Return the dimension sizes of a ranked tensor; () of anything else, such as a token."""
    return tuple(kind.shape) if _is_ranked(kind) else ()


def shape(value: ir.Value) -> Shape:
    """Return the `shape_of_type` of a value."""
    return shape_of_type(value.type)


def rank(value: ir.Value) -> int:
    """Return the number of dimensions of a ranked tensor; 0 of anything else."""
    kind = value.type
    return int(kind.rank) if _is_ranked(kind) else 0


# Lists of values are gone through by index, because the end of an iteration over one is an
# exception, and slow.


def shapes(values: Sequence[ir.Value]) -> list[Shape]:
    """Return the `shape` of each of an op's operands or results."""
    return [shape(values[index]) for index in range(len(values))]


def ranks(values: Sequence[ir.Value], first: int = 0) -> tuple[int, ...]:
    """Return the `rank` of each of an op's operands or results, from the `first` on."""
    return tuple([rank(values[index]) for index in range(first, len(values))])


def integers(op: ir.Operation, name: str) -> Shape | None:
    """Return the elements of an array or dense attribute, flat; None where the op lacks it."""
    try:
        elements = op.attributes[name]
    except KeyError:
        return None
    return tuple([elements[index] for index in range(len(elements))])


def integer(op: ir.Operation, name: str) -> int:
    """Return the value of an `i64` attribute that the op must have."""
    return int(op.attributes[name].value)
