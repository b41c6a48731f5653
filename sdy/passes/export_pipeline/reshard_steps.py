"""The collectives of which reshards are made, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.sharding import TensorSharding

__all__ = [
    "AllGather",
    "AllSlice",
    "AllToAll",
    "AxesPerDim",
    "CollectivePermute",
    "ReshardStep",
]

AxesPerDim: TypeAlias = "tuple[tuple[AxisRef, ...], ...]"


@dataclass(frozen=True, slots=True)
class AllSlice:
    """Each device keeps a part of what it has.

    Attributes:
      axes: for each dimension the axes along which it is sliced, after those that it has.
      sharding: of the result.
      bytes: 0, nothing moves.

    """

    axes: AxesPerDim
    sharding: TensorSharding
    bytes: int = 0

    def __str__(self) -> str:
        return f"all_slice {_lists(self.axes)}"


@dataclass(frozen=True, slots=True)
class AllGather:
    """Each device gets the parts of those that differ from it along some axes only.

    Attributes:
      axes: for each dimension the axes along which it is gathered, the last that it has.
      sharding: of the result.
      bytes: how many each device receives.

    """

    axes: AxesPerDim
    sharding: TensorSharding
    bytes: int

    def __str__(self) -> str:
        return f"all_gather {_lists(self.axes)}"


@dataclass(frozen=True, slots=True)
class AllToAll:
    """Axes go from the end of one dimension to the end of another.

    Attributes:
      axes: the axes.
      source: the dimension that they leave.
      target: the dimension that they come to.
      sharding: of the result.
      bytes: how many each device receives.

    """

    axes: tuple[AxisRef, ...]
    source: int
    target: int
    sharding: TensorSharding
    bytes: int

    def __str__(self) -> str:
        return f"all_to_all [{_list(self.axes)}: {self.source}->{self.target}]"


@dataclass(frozen=True, slots=True)
class CollectivePermute:
    """Each device hands what it has to one other, so that other axes split the dimensions.

    Attributes:
      sharding: of the result, with as many parts in each dimension as before.
      bytes: how many each device receives, at most.

    """

    sharding: TensorSharding
    bytes: int

    def __str__(self) -> str:
        dimensions = ", ".join(map(str, self.sharding.dimensions))
        return f"collective_permute to [{dimensions}]"


ReshardStep: TypeAlias = AllSlice | AllGather | AllToAll | CollectivePermute


def _list(axes: Iterable[AxisRef]) -> str:
    return "{" + ", ".join(map(str, axes)) + "}"


def _lists(axes: AxesPerDim) -> str:
    return "[" + ", ".join(map(_list, axes)) + "]"
