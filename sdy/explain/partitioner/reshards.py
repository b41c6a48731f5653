"""The collectives by which XLA's SPMD partitioner brings a tensor from one tiling to another.

It tries, in this order: a permutation of devices, all-to-alls between dimensions, slicing of
what is replicated, all-gathers, and detours by way of a tiling from which one of these goes on.
Where all fail it gathers the whole tensor on every device and slices it again, and logs an
"involuntary full rematerialization". The order is that of `PartitionedHlo::ReshardNoCache` in
XLA's `spmd_partitioner.cc`.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from sdy.explain.partitioner.all_to_all_dims import all_to_all_dims, exchanged
from sdy.explain.partitioner.exchanges import Exchange
from sdy.explain.partitioner.tiling_changes import (
    aligned_groups,
    compatible_tiling,
    detour_by_merging,
    detour_by_replicating,
    detour_by_splitting,
    detour_by_tile_per_replica,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.explain.partitioner.tiling import Tiling

__all__ = ["Reshard", "reshard"]

_REMEMBERED = 8192


@dataclass(frozen=True, slots=True)
class Reshard:
    """What a reshard becomes.

    Attributes:
      exchanges: the collectives in order.
      is_full_rematerialization: whether XLA warns that it gathers the whole tensor.

    """

    exchanges: tuple[Exchange, ...] = ()
    is_full_rematerialization: bool = False

    def then(self, other: Reshard | None) -> Reshard | None:
        """Return this followed by another; None where there is no other."""
        if other is None:
            return None
        return Reshard(
            self.exchanges + other.exchanges,
            self.is_full_rematerialization or other.is_full_rematerialization,
        )


_NOTHING = Reshard()


@lru_cache(maxsize=_REMEMBERED)
def reshard(source: Tiling, target: Tiling, shape: tuple[int, ...], itemsize: int) -> Reshard:
    """Return what brings a tensor of `shape` from one tiling to another.

    Args:
      source: the tiling before.
      target: the tiling after, on the same devices.
      shape: of the whole tensor.
      itemsize: the bytes of an element.

    """
    found = _Resharder(source, shape, itemsize).to(target)
    return _NOTHING if found is None else found


@dataclass(frozen=True, slots=True)
class _Resharder:
    """A tensor in a tiling, and the ways from there."""

    tiling: Tiling
    shape: tuple[int, ...]
    itemsize: int

    def to(self, target: Tiling, *, may_replicate: bool = True) -> Reshard | None:
        """Return the way to `target`; None where only gathering everything is left."""
        source = self.tiling
        if source == target:
            return _NOTHING
        if _differ_in_order(source, target):
            return self._permute(target)
        if pairs := all_to_all_dims(source, target):
            return self._all_to_alls(target, pairs)
        found = self._by_slicing(target) or self._by_gathering(target)
        if found is not None:
            return found
        if source.is_replicated:
            return _NOTHING
        if target.is_replicated:
            return self._replicate(range(len(self.shape)))
        found = self._by_detour(target) or self._in_groups(target)
        if found is not None:
            return found
        if not may_replicate:
            return None
        gathered = self._gather_for(target)
        return Reshard(gathered.exchanges, is_full_rematerialization=True)

    def _gather_for(self, target: Tiling) -> Reshard:
        """Gather so much that slicing alone is left.

        Where neither tiling has replicas, dimensions stay split as far as the target splits
        them, if that divides what there is.
        """
        tiling = self.tiling
        factors = [
            1 if now % then == 0 else then
            for now, then in zip(tiling.dims, target.dims, strict=True)
        ]
        found = None
        if tiling.replicas == target.replicas == 1:
            found = self._by_gathering(target.merged(factors))
        return self._replicate(range(len(factors))) if found is None else found

    def _local_bytes(self) -> int:
        return math.prod(self.tiling.local_shape(self.shape)) * self.itemsize

    def _at(self, tiling: Tiling) -> _Resharder:
        return _Resharder(tiling, self.shape, self.itemsize)

    # One step.

    def _permute(self, target: Tiling) -> Reshard:
        pairs = tuple(zip(self.tiling.devices, target.devices, strict=True))
        return Reshard((Exchange("collective-permute", self._local_bytes(), pairs),))

    def _all_to_alls(self, target: Tiling, pairs: Sequence[tuple[int, int]]) -> Reshard:
        """Move parts of dimensions to others; several at once where that needs no padding."""
        together, others = self._in_one_all_to_all(target, pairs)
        now, exchanges = self, list[Exchange]()
        if together:
            dims = [dim for _, dim in together]
            sizes = [self.tiling.dims[a] // self.tiling.dims[b] for a, b in together]
            after = exchanged(self.tiling, together)
            groups = after.groups(dims, sizes)
            exchanges.append(Exchange("all-to-all", self._local_bytes(), groups))
            now = self._at(after)
        for pair in others:
            after = exchanged(now.tiling, [pair])
            size = now.tiling.dims[pair[0]] // now.tiling.dims[pair[1]]
            padded = list(now.tiling.local_shape(self.shape))
            padded[pair[1]] = after.local_shape(self.shape)[pair[1]] * size
            bytes_ = math.prod(padded) * self.itemsize
            exchanges.append(Exchange("all-to-all", bytes_, after.groups([pair[1]], [size])))
            now = self._at(after)
        done = Reshard(tuple(exchanges))
        if now.tiling == target:
            return done
        return Reshard(done.exchanges + now._permute(target).exchanges)

    def _in_one_all_to_all(
        self, target: Tiling, pairs: Sequence[tuple[int, int]]
    ) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Return the pairs of dimensions that one all-to-all serves, and those left."""
        uses = Counter(dim for pair in pairs for dim in pair)
        together: list[tuple[int, int]] = []
        left: list[tuple[int, int]] = []
        for a, b in sorted(pairs, key=lambda pair: pair[1]):
            fits = self.shape[a] % self.tiling.dims[a] == 0 == self.shape[b] % target.dims[b]
            is_alone = uses[a] == uses[b] == 1
            (together if fits and is_alone else left).append((a, b))
        in_order = [pair for pair in pairs if pair in left]
        return (together, in_order) if len(together) > 1 else ([], list(pairs))

    def _replicate(self, dims: Sequence[int], factors: Sequence[int] | None = None) -> Reshard:
        """Put the tiles along `dims` together, or `factors` neighbouring ones along each.

        A dimension of one element is sent to all by an all-reduce, and so is one that is at
        most half as long as there are tiles; all-gathers bring the others, the last one first.
        """
        tiling = self.tiling
        factors = [tiling.dims[dim] for dim in dims] if factors is None else factors
        local = list(tiling.local_shape(self.shape))
        exchanges: list[Exchange] = []
        sizes: dict[int, tuple[int, int]] = {}
        broadcast: list[tuple[int, int]] = []
        for dim, factor in zip(dims, factors, strict=True):
            if factor == 1:
                continue
            whole = -(-self.shape[dim] // (tiling.dims[dim] // factor))
            if whole == local[dim]:
                broadcast.append((dim, factor))
            else:
                sizes[dim] = whole, factor
        if broadcast:
            groups = tiling.groups([d for d, _ in broadcast], [f for _, f in broadcast])
            exchanges.append(Exchange("all-reduce", self._bytes(local), groups))
        reduced = {d for d, (whole, factor) in sizes.items() if whole <= factor // 2}
        for dim in sorted(set(sizes) - reduced, reverse=True):
            factor = sizes[dim][1]
            groups = tiling.groups([dim], [factor])
            local[dim] *= factor
            exchanges.append(Exchange("all-gather", self._bytes(local), groups))
        for dim, (whole, _) in sizes.items():
            local[dim] = whole
        exchanges += [
            Exchange("all-reduce", self._bytes(local), tiling.groups([dim], [sizes[dim][1]]))
            for dim in sorted(reduced, reverse=True)
        ]
        return Reshard(tuple(exchanges))

    def _bytes(self, local: Sequence[int]) -> int:
        return math.prod(local) * self.itemsize

    # Several steps.

    def _by_slicing(self, target: Tiling) -> Reshard | None:
        """Return the way by slicing what replicas have in common, then perhaps permuting."""
        if target.is_replicated or not self.tiling.is_partial:
            return None
        between = compatible_tiling(self.tiling, target)
        if between is not None:
            return _NOTHING if between == target else self._at(between)._permute(target)
        between = detour_by_tile_per_replica(self.tiling, target)
        if between is None or not (pairs := all_to_all_dims(self.tiling, between)):
            return None
        return self._all_to_alls(between, pairs).then(self._at(between).to(target))

    def _by_gathering(self, target: Tiling) -> Reshard | None:
        """Return the way by permuting, perhaps, then gathering along dimensions."""
        if self.tiling.is_replicated or not target.is_partial:
            return None
        between = compatible_tiling(target, self.tiling)
        if between is not None:
            first = _NOTHING if between == self.tiling else self._permute(between)
            factors = [a // b for a, b in zip(between.dims, target.dims, strict=True)]
            return first.then(self._at(between)._replicate(range(len(factors)), factors))
        between = detour_by_tile_per_replica(target, self.tiling)
        if between is None or not (pairs := all_to_all_dims(between, target)):
            return None
        start = self.to(between)
        return start and start.then(self._at(between)._all_to_alls(target, pairs))

    def _by_detour(self, target: Tiling) -> Reshard | None:
        """Return the way by a tiling that is like the target in some way."""
        merging = detour_by_merging(self.tiling, target, self.shape)
        if merging is not None:
            split = _Resharder(merging.before, merging.shape, self.itemsize)
            first = split.to(merging.after, may_replicate=False)
            if first is None:
                return None
            return first.then(self._at(merging.result).to(target, may_replicate=False))
        between = detour_by_replicating(self.tiling, target) or detour_by_splitting(
            self.tiling, target
        )
        if between is None or between == self.tiling:
            return None
        first = self.to(between)
        return first and first.then(self._at(between).to(target, may_replicate=False))

    def _in_groups(self, target: Tiling) -> Reshard | None:
        """Return the way inside of the groups that equally split dimensions make."""
        groups = aligned_groups(self.tiling, target)
        if groups is None:
            return None
        local = self.tiling.local_shape(self.shape)
        shape = tuple(
            part if dim in groups.dims else size
            for dim, (size, part) in enumerate(zip(self.shape, local, strict=True))
        )
        inner = _Resharder(groups.source, shape, self.itemsize).to(groups.target)
        if inner is None:
            return None
        inner = Reshard(
            tuple(Exchange(e.kind, e.bytes, groups.expand(e.groups)) for e in inner.exchanges),
            inner.is_full_rematerialization,
        )
        return inner.then(self._at(groups.result).to(target))


def _differ_in_order(source: Tiling, target: Tiling) -> bool:
    return source.dims == target.dims and not source.is_replicated
