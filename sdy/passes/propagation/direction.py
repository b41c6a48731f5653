"""In which direction an op lets shardings through, factor by factor."""

from __future__ import annotations

from enum import IntFlag

__all__ = ["Direction"]


class Direction(IntFlag):
    """From operands to results, from results to operands, both, or neither.

    The union of two directions is `|`, what they have in common `&`.
    """

    NONE = 0
    FORWARD = 1
    BACKWARD = 2
    BOTH = 3
