"""What passes ask of the types of values."""

from __future__ import annotations

import math

from jaxlib.mlir import ir

__all__ = ["element_count", "is_scalar", "is_static_shaped", "rank", "shape"]


def element_count(type_: ir.Type) -> int:
    """Return how many elements a tensor has; 0 where that is not known."""
    return math.prod(type_.shape) if is_static_shaped(type_) else 0


def is_scalar(type_: ir.Type) -> bool:
    """Return whether values of the type are tensors without dimensions."""
    return isinstance(type_, ir.ShapedType) and type_.has_rank and type_.rank == 0


def is_static_shaped(type_: ir.Type) -> bool:
    """Return whether values of the type are tensors whose sizes are all known."""
    return isinstance(type_, ir.ShapedType) and type_.has_rank and type_.has_static_shape


def rank(type_: ir.Type) -> int:
    """Return the number of dimensions; 0 for what is no tensor, such as a token."""
    return type_.rank if isinstance(type_, ir.ShapedType) and type_.has_rank else 0


def shape(type_: ir.Type) -> tuple[int, ...]:
    """Return the sizes of the dimensions; none for what is no tensor, such as a token."""
    is_ranked = isinstance(type_, ir.ShapedType) and type_.has_rank
    return tuple(type_.shape) if is_ranked else ()
