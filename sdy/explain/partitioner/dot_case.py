"""A dot that is to be partitioned, perhaps within groups of devices, and the dot of the parts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sdy.explain.partitioner.dot_dims import LEFT, OUT, RIGHT, DotDims, count_along, merged
from sdy.explain.partitioner.exchanges import Exchange
from sdy.explain.partitioner.held_tensor import sharding_of_tiling
from sdy.explain.partitioner.op_case import OpExchange
from sdy.explain.partitioner.tiling import Tiling

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sdy.dialect.sharding import TensorSharding
    from sdy.explain.partitioner.held_tensor import HeldTensor
    from sdy.explain.partitioner.op_case import Axes
    from sdy.explain.partitioner.tiling import Groups

__all__ = ["DotCase", "Partition", "Steps", "Summing"]

Steps: TypeAlias = tuple[OpExchange, ...]
Partition: TypeAlias = "Callable[[DotCase], Steps]"


@dataclass(frozen=True, slots=True)
class Summing:
    """How the parts of a sum are put together.

    Attributes:
      groups: the devices that have parts of the same elements.
      sliced: into how many parts each dimension of the result is cut then.
      rest: the groups in which the slices are summed up once more, if any.

    """

    groups: Groups
    sliced: tuple[int, ...] = ()
    rest: Groups = ()


@dataclass(frozen=True, slots=True)
class DotCase:
    """A dot within groups of devices.

    Attributes:
      dims: its dimensions.
      operands: the left one and the right one.
      out: the result, in the tiling in which it is wanted.
      sums: what the groups around leave to sum up, the innermost last.

    """

    dims: DotDims
    operands: tuple[HeldTensor, HeldTensor]
    out: HeldTensor
    sums: tuple[Summing, ...] = ()

    @property
    def left(self) -> HeldTensor:
        """The left operand."""
        return self.operands[LEFT]

    @property
    def right(self) -> HeldTensor:
        """The right operand."""
        return self.operands[RIGHT]

    @property
    def num_devices(self) -> int:
        """The number of devices of a group."""
        return len(self.out.tiling.devices)

    def tensor(self, index: int) -> HeldTensor:
        """Return an operand or the result."""
        return self.out if index == OUT else self.operands[index]

    def batches(self, tensor: int) -> int:
        """Return the number of tiles along the batch dimensions of a tensor."""
        return count_along(self.tensor(tensor).tiling, self.dims.batch, tensor)

    def sums_split(self, operand: int) -> int:
        """Return the number of tiles along the summed dimensions of an operand."""
        return count_along(self.operands[operand].tiling, self.dims.summed, operand)

    def frees(self, side: int, tensor: int) -> int:
        """Return the number of tiles along the dimensions of one operand and the result.

        Args:
          side: the operand that has the dimensions.
          tensor: the same operand, or the result.

        """
        return count_along(self.tensor(tensor).tiling, self.dims.free[side], tensor)

    def carried(self, source: int, target: int) -> Tiling:
        """Return the tiling of a tensor as it looks on another one."""
        return self.dims.carried(self.tensor(source).tiling, source, target)

    def matches(self, source: int, target: int) -> bool:
        """Return whether all that splits a tensor splits another one in the same way."""
        wanted = self.tensor(target).tiling
        return self.dims.is_carried(self.tensor(source).tiling, source, target, wanted)

    def resharded(self, operand: int, target: Tiling) -> DotCase:
        """Return the same with an operand brought to another tiling."""
        return self.given(operand, self.operands[operand].resharded(target))

    def given(self, operand: int, tensor: HeldTensor) -> DotCase:
        """Return the same with another tensor for an operand."""
        left, right = self.operands
        return replace(self, operands=(tensor, right) if operand == LEFT else (left, tensor))

    def computed(self, *sums: Summing, as_: Tiling | None = None) -> Steps:
        """Return all steps of the dot of the parts that devices have.

        Args:
          sums: what is to be summed up, after what groups around leave.
          as_: how the result is tiled then; as it is wanted by default.

        """
        steps = [*self.left.steps, *self.right.steps]
        local = self._local_shape()
        for each in (*reversed(self.sums), *sums):
            steps += self._summed(each.groups, local)
            if each.sliced:
                local = [-(-size // count) for size, count in zip(local, each.sliced, strict=True)]
            steps += self._summed(each.rest, local)
        found = self.out if as_ is None else self.out.at(as_).resharded(self.out.tiling)
        return (*steps, *found.steps)

    def _local_shape(self) -> list[int]:
        """Return the shape of the dot of the parts."""
        shape = [1] * self.dims.rank(OUT)
        for operand, side in ((LEFT, self.dims.free[LEFT]), (RIGHT, self.dims.free[RIGHT])):
            tensor = self.operands[operand]
            local = tensor.tiling.local_shape(tensor.shape)
            for dim in (*side, *self.dims.batch):
                shape[dim.out] = local[dim[operand]]
        return shape

    def _summed(self, groups: Groups, local: Sequence[int]) -> Steps:
        """Return the all-reduce of parts of that shape."""
        if not groups or len(groups[0]) < 2:
            return ()
        exchange = Exchange("all-reduce", math.prod(local) * self.out.itemsize, groups)
        sharding = self._computed_sharding()
        axes = _axes_along(groups, sharding)
        from_ = replace(sharding, unreduced=axes) if _is_free(axes, sharding) else sharding
        return (OpExchange("sum", self.out.index, from_, sharding, (exchange,)),)

    def _computed_sharding(self) -> TensorSharding:
        """Return how the dot of the parts is sharded; as it is wanted, where that is not plain."""
        carried = [
            self.dims.carried(self.operands[side].whole_tiling(), side, OUT)
            for side in (LEFT, RIGHT)
        ]
        both = merged(*carried)
        mesh = self.out.sharding.bound_mesh
        found = None if both is None else sharding_of_tiling(both, mesh)
        return found or replace(self.out.sharding, unreduced=())


def _axes_along(groups: Groups, sharding: TensorSharding) -> Axes:
    """Return the axes along which the devices of a group are; none where axes cannot say it."""
    along = Tiling.of((len(groups[0]),), np.asarray(groups).T)
    found = sharding_of_tiling(along, sharding.bound_mesh)
    return found.dimensions[0].axes if found else ()


def _is_free(axes: Axes, sharding: TensorSharding) -> bool:
    return not any(axis.overlaps(other) for axis in axes for other in sharding.axes())
