"""A tensor that devices hold, perhaps seen from within a group of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from sdy.dialect.errors import VerifyError
from sdy.dialect.hlo_sharding import HloSharding, SubgroupKind
from sdy.dialect.mesh_finding import FoundMeshes
from sdy.dialect.sharding import TensorSharding
from sdy.dialect.tile_assignment import TileAssignment
from sdy.explain.partitioner.exchanges import Exchange
from sdy.explain.partitioner.op_case import OpExchange
from sdy.explain.partitioner.reshards import reshard
from sdy.explain.partitioner.tiling import Tiling, tiling_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.dialect.mesh import Mesh
    from sdy.explain.partitioner.grouped_tiling import GroupedTiling
    from sdy.explain.partitioner.op_case import Role, Tensor
    from sdy.explain.partitioner.tiling import Groups

__all__ = ["HeldTensor", "sharding_of_tiling"]

_REMEMBERED = 8192


@dataclass(frozen=True, slots=True)
class HeldTensor:
    """A tensor in a tiling, and what it took to bring it there.

    Attributes:
      role: whether it is an operand or the result of an op.
      index: which one.
      shape: of the whole tensor or, within groups, of what a group has.
      itemsize: the bytes of an element.
      tiling: of the devices of a group, which are counted within it.
      scope: the devices of each group.
      lifts: the groupings, outermost first; the devices of each are counted in the one before.
      sharding: of the tensor in the program.
      steps: what was exchanged to have it so.

    """

    role: Role
    index: int
    shape: tuple[int, ...]
    itemsize: int
    tiling: Tiling
    scope: Groups
    sharding: TensorSharding
    lifts: tuple[GroupedTiling, ...] = ()
    steps: tuple[OpExchange, ...] = ()

    @staticmethod
    def of(role: Role, index: int, tensor: Tensor) -> HeldTensor:
        """Return a tensor as a program has it."""
        tiling = tiling_of(tensor.sharding)
        scope = (tuple(sorted(tiling.devices)),)
        return HeldTensor(
            role, index, tensor.shape, tensor.itemsize, tiling, scope, tensor.sharding
        )

    @property
    def local_bytes(self) -> int:
        """The bytes that a device holds."""
        return math.prod(self.tiling.local_shape(self.shape)) * self.itemsize

    @property
    def bytes(self) -> int:
        """The bytes of the tensor, or of what a group has of it."""
        return math.prod(self.shape) * self.itemsize

    @property
    def replicated(self) -> Tiling:
        """The tiling in which each device of a group holds all."""
        return self.tiling.without(range(len(self.shape)))

    def at(self, tiling: Tiling) -> HeldTensor:
        """Return the tensor in another tiling, as if it had always been so."""
        return replace(self, tiling=tiling)

    def resharded(self, target: Tiling) -> HeldTensor:
        """Return the tensor brought to another tiling of the same devices."""
        if target == self.tiling:
            return self
        found = reshard(self.tiling, target, self.shape, self.itemsize)
        exchanges = tuple(
            Exchange(each.kind, each.bytes, self.expanded(each.groups)) for each in found.exchanges
        )
        from_, to = self._sharding_at(self.tiling), self._sharding_at(target)
        step = OpExchange(
            self.role, self.index, from_, to, exchanges, found.is_full_rematerialization
        )
        return replace(self, tiling=target, steps=(*self.steps, step))

    def within(self, grouped: GroupedTiling) -> HeldTensor:
        """Return what a group has of the tensor, which is in the tiling that is grouped."""
        return replace(
            self,
            shape=grouped.part_shape(self.shape),
            tiling=grouped.inner,
            scope=self.expanded(grouped.groups),
            lifts=(*self.lifts, grouped),
        )

    def expanded(self, groups: Groups) -> Groups:
        """Return groups within a group as groups of all devices."""
        return tuple(
            tuple(members[place] for place in group) for members in self.scope for group in groups
        )

    def whole_tiling(self, inner: Tiling | None = None) -> Tiling:
        """Return the tiling of all devices, for the one within the groups or another one."""
        tiling = inner or self.tiling
        for grouped in reversed(self.lifts):
            tiling = replace(grouped, inner=tiling).ungrouped()
        return tiling

    def _sharding_at(self, tiling: Tiling) -> TensorSharding:
        """Return the sharding of the tensor; the one in the program where axes cannot say it."""
        mesh = self.sharding.bound_mesh
        return sharding_of_tiling(self.whole_tiling(tiling), mesh) or self.sharding


@lru_cache(maxsize=_REMEMBERED)
def sharding_of_tiling(tiling: Tiling, mesh: Mesh) -> TensorSharding | None:
    """Return the sharding that a tiling is on a mesh; None where axes cannot say it."""
    if tiling.is_replicated:
        return TensorSharding.fully_closed(mesh, len(tiling.dims))
    dims: Sequence[int] = (*tiling.dims, tiling.replicas)
    assignment = TileAssignment.listed(dims, tiling.devices)
    hlo = HloSharding.tiled(assignment, [SubgroupKind.REPLICATED])
    try:
        return FoundMeshes((mesh,)).named(hlo, len(tiling.dims)).sharding
    except VerifyError:
        return None
