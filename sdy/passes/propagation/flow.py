"""What the op priorities distinguish in an op."""

from __future__ import annotations

from enum import IntEnum, auto

__all__ = ["Flow"]


class Flow(IntEnum):
    """What the schedule of the op priorities distinguishes in an op.

    The members are integers because those hash fast.
    """

    PASS_THROUGH = auto()
    DYNAMIC_SLICE = auto()
    BROADCAST = auto()
    OTHER = auto()
    BARRIER_NONE = auto()
    BARRIER_FORWARD = auto()
    BARRIER_BACKWARD = auto()
    BARRIER_BOTH = auto()
