"""What splitting a factor of a sharding rule asks of the op."""

from __future__ import annotations

from enum import Enum
from typing import Final

__all__ = ["NEED_REPLICATION", "PASS_THROUGH", "PERMUTATION", "REDUCTION", "FactorType"]


class FactorType(Enum):
    """What splitting a factor asks of the op."""

    PASS_THROUGH = "pass_through"
    REDUCTION = "reduction"
    NEED_REPLICATION = "need_replication"
    PERMUTATION = "permutation"


# Kept, because a member of an enum is slow to look up.
PASS_THROUGH: Final = FactorType.PASS_THROUGH
REDUCTION: Final = FactorType.REDUCTION
NEED_REPLICATION: Final = FactorType.NEED_REPLICATION
PERMUTATION: Final = FactorType.PERMUTATION
