"""How the conflicts between the tensors of an op are met."""

from __future__ import annotations

from enum import Enum

__all__ = ["Strategy"]


class Strategy(Enum):
    """How conflicts between the tensors of an op are met."""

    BASIC = "basic"
    AGGRESSIVE = "aggressive"
