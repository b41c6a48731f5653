"""The collectives that XLA's SPMD partitioner adds, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from sdy.explain.partitioner.tiling import Groups

__all__ = ["Exchange", "Kind"]

Kind: TypeAlias = Literal[
    "all-gather", "all-reduce", "all-to-all", "collective-permute", "reduce-scatter"
]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One collective, before XLA combines it with others.

    Attributes:
      kind: as HLO names it.
      bytes: the size of its result on one device.
      groups: the devices that exchange data with each other; for a `collective-permute`, the
        pairs of source and target.

    """

    kind: Kind
    bytes: int
    groups: Groups

    @property
    def group_size(self) -> int:
        """The number of devices that take part in one group."""
        return len(self.groups[0]) if self.groups else 1

    @property
    def sent(self) -> int:
        """The bytes that a device sends, in a ring where there is a choice.

        An all-reduce is a reduce-scatter and an all-gather.
        """
        if self.kind == "collective-permute":
            return self.bytes
        others, size = self.group_size - 1, self.group_size
        if self.kind == "all-reduce":
            return 2 * self.bytes * others // size
        if self.kind == "reduce-scatter":
            return self.bytes * others
        return self.bytes * others // size
