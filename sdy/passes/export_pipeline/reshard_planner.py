"""Finds the collectives of a reshard.

The difference of two shardings is kept as three lists of axes per dimension:

- placed: axes where both have them, a common prefix;
- misplaced: axes that follow now, and must go to another place or away;
- wanted: axes that are to follow.

Steps make the last two empty: slicing brings wanted axes, a permutation exchanges axes for others
of the same size, all-to-alls carry axes between dimensions, gathering takes away the rest. Sizes
only shrink before they grow, so each step moves as little as it can. The order of the steps and
the choice of axes are those of Shardy's `sdy-reshard-to-collectives`.
"""

from __future__ import annotations

import math
from itertools import combinations, takewhile
from typing import TYPE_CHECKING, TypeAlias

from sdy.dialect.axes import AxisRef, axes_size, merge_adjacent_axes
from sdy.dialect.sharding import DimensionSharding, TensorSharding
from sdy.passes.export_pipeline.axis_alignment import align, fit, split_at
from sdy.passes.export_pipeline.reshard_steps import (
    AllGather,
    AllSlice,
    AllToAll,
    CollectivePermute,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sdy.dialect.mesh import Mesh
    from sdy.passes.export_pipeline.reshard_steps import AxesPerDim, ReshardStep

__all__ = ["find_steps"]

Axes: TypeAlias = "list[AxisRef]"


def find_steps(
    from_: TensorSharding, to: TensorSharding, shape: tuple[int, ...], itemsize: int
) -> tuple[ReshardStep, ...]:
    """Return the collectives that bring a tensor of `shape` from one sharding to the other."""
    planner = _Planner(from_, to, shape, itemsize)
    planner.run()
    if not _are_possible(from_, planner.steps):
        planner = _Planner(from_, to, shape, itemsize)
        planner.start_over()
        planner.run()
    return tuple(planner.steps)


def _are_possible(from_: TensorSharding, steps: Iterable[ReshardStep]) -> bool:
    """Return whether each step leads to a sharding that exists and that it can lead to.

    Where sizes do not divide each other the search may exchange axes for fewer parts, or bring
    together parts of one axis that overlap: `"x":(1)2` and `"x":(1)3` of an axis of size 6.
    """
    mesh, before = from_.bound_mesh, from_
    for step in steps:
        after = step.sharding
        if any(a.overlaps(b) for a, b in combinations(after.axes(), 2)):
            return False
        if isinstance(step, CollectivePermute) and any(
            old.sharded_size(mesh) != new.sharded_size(mesh)
            for old, new in zip(before.dimensions, after.dimensions, strict=True)
        ):
            return False
        before = after
    return True


class _Planner:
    """The state between two steps, and what each kind of step does to it."""

    def __init__(
        self, from_: TensorSharding, to: TensorSharding, shape: tuple[int, ...], itemsize: int
    ) -> None:
        self.steps: list[ReshardStep] = []
        self._mesh: Mesh = from_.bound_mesh
        self._now_on, self._to = from_.mesh, to
        self._shape, self._itemsize = shape, itemsize
        self._dims = range(len(shape))
        self._misplaced, self._wanted = align(
            [d.axes for d in from_.dimensions], [d.axes for d in to.dimensions], self._mesh
        )
        self._placed: list[Axes] = [[] for _ in self._dims]
        for dim in self._dims:
            self._settle(dim)

    def run(self) -> None:
        """Take steps until the sharding is the wanted one."""
        while not self._is_done():
            before = len(self.steps)
            self._slice()
            self._permute()
            self._all_to_alls(in_place_only=True)
            self._all_to_alls(in_place_only=False)
            self._gather()
            if len(self.steps) == before:
                self.start_over()

    def start_over(self) -> None:
        """Gather along all misplaced axes, so that slicing alone is left."""
        self._gather_last([len(axes) for axes in self._misplaced])

    # The state.

    def _is_done(self) -> bool:
        return self._now_on == self._to.mesh and not any(self._misplaced) and not any(self._wanted)

    def _settle(self, dim: int) -> None:
        """Count the axes that have come to their place as placed."""
        misplaced, wanted = self._misplaced[dim], self._wanted[dim]
        while misplaced and wanted and misplaced[0] == wanted[0]:
            self._placed[dim].append(misplaced.pop(0))
            wanted.pop(0)

    def _held(self) -> set[AxisRef]:
        return {axis for axes in self._misplaced for axis in axes}

    def _homes(self) -> dict[AxisRef, tuple[int, int]]:
        """Return for every wanted axis its dimension and its place among the axes wanted there."""
        return {
            axis: (dim, index)
            for dim, axes in enumerate(self._wanted)
            for index, axis in enumerate(axes)
        }

    def _size(self, axes: Iterable[AxisRef]) -> int:
        return axes_size(axes, self._mesh)

    def _are_divisible(self, first: AxisRef, second: AxisRef) -> bool:
        sizes = first.size(self._mesh), second.size(self._mesh)
        return max(sizes) % min(sizes) == 0

    def _sharding(self) -> TensorSharding:
        axes = map(list.__add__, self._placed, self._misplaced)
        return TensorSharding(
            self._now_on,
            tuple(DimensionSharding(merge_adjacent_axes(each, self._mesh)) for each in axes),
            unreduced=self._to.unreduced,
        )

    def _merged(self, axes_per_dim: Sequence[Axes]) -> AxesPerDim:
        return tuple(merge_adjacent_axes(axes, self._mesh) for axes in axes_per_dim)

    def _local_bytes(self) -> int:
        return math.prod(self._sharding().local_shape(self._shape)) * self._itemsize

    # Slicing.

    def _slice(self) -> None:
        """Slice along wanted axes that no dimension has, where that does not split too far.

        A dimension has room for as much as it is split more in the end than now.
        """
        room = []
        for misplaced, wanted in zip(self._misplaced, self._wanted, strict=True):
            now, then = self._size(misplaced), self._size(wanted)
            room.append(then // math.gcd(now, then))
        sliced: list[Axes] = [[] for _ in self._dims]
        for dim in self._dims:
            sliced[dim] += self._slice_before_all_to_all(dim, room)
        left_over: Axes = []
        for dim in self._dims:
            left_over += self._slice_in_place(dim, room, sliced[dim])
        for dim, added in enumerate(self._distribute([left_over] * len(room), room, front=False)):
            sliced[dim] += added
        if any(sliced):
            self.steps.append(AllSlice(self._merged(sliced), self._sharding()))

    def _slice_before_all_to_all(self, source: int, room: list[int]) -> Axes:
        """Slice `source` along axes that an all-to-all will carry away with those it has.

        Where the last axes of a dimension are to go to another one and free axes follow them
        there, slicing here first saves a permutation. The other dimension lends its room.
        """
        moving, homes, held = self._misplaced[source], self._homes(), self._held()
        if not moving or self._wanted[source] or moving[-1] not in homes:
            return []
        target, index = homes[moving[-1]]
        wanted = self._wanted[target]
        added = list(takewhile(lambda axis: axis not in held, wanted[index + 1 :]))
        if self._misplaced[target] or not added:
            return []
        together = _common_suffix(moving, wanted[: index + 1])
        others = moving[: len(moving) - together]
        if any(axis in homes and homes[axis][0] == target for axis in others):
            return []
        if self._shape[source] % self._size([*self._placed[source], *moving, *added]):
            return []
        room[target] //= self._size([*moving[len(others) :], *added])
        moving += added
        return added

    def _slice_in_place(self, dim: int, room: list[int], sliced: Axes) -> Axes:
        """Slice a dimension along free axes that are wanted there; return those without room."""
        held = self._held()
        still_wanted: Axes = []
        left_over: Axes = []
        for axis in self._wanted[dim]:
            if axis in held:
                still_wanted.append(axis)
                continue
            fitting, rest = fit(axis, room[dim], self._mesh)
            if fitting is not None:
                room[dim] //= fitting.size(self._mesh)
                sliced.append(fitting)
                if self._misplaced[dim] or still_wanted:
                    self._misplaced[dim].append(fitting)
                    still_wanted.append(fitting)
                else:
                    self._placed[dim].append(fitting)
            if rest is not None:
                still_wanted.append(rest)
                left_over.append(rest)
        self._wanted[dim] = still_wanted
        return left_over

    def _distribute(self, available: Sequence[Axes], room: list[int], *, front: bool) -> list[Axes]:
        """Add available axes, for each dimension some, where there is room; return them.

        One list may stand for several dimensions. Axes that are added are taken out of it, the
        rest of an axis that was split stays in it.
        """
        added: list[Axes] = [[] for _ in self._dims]
        split: Axes = []
        for dim in self._dims:
            axes = available[dim]
            at = 0
            while at < len(axes) and room[dim] > 1:
                fitting, rest = fit(axes[at], room[dim], self._mesh)
                if fitting is None:
                    at += 1
                    continue
                room[dim] //= fitting.size(self._mesh)
                added[dim].append(fitting)
                del axes[at]
                if rest is not None:
                    split.append(fitting)
                    axes.insert(0, rest)
            old = self._misplaced[dim]
            self._misplaced[dim] = added[dim] + old if front else old + added[dim]
        self._wanted = split_at(self._wanted, split, self._mesh)
        return added

    # Permuting.

    def _permute(self) -> None:
        """Exchange misplaced axes for wanted ones, or put them in a better order."""
        if self._gains_from_permuting():
            self._exchange()
        elif self._now_on == self._to.mesh:
            return
        self._now_on = self._to.mesh
        self.steps.append(CollectivePermute(self._sharding(), self._local_bytes()))

    def _gains_from_permuting(self) -> bool:
        """Return whether other axes, or another order, save other collectives.

        That is so where a wanted axis can take the place of a misplaced one, in its own dimension
        or elsewhere, where axes that go to one dimension are apart or out of order, and where an
        axis to be gathered stands behind one that goes elsewhere.
        """
        held, homes = self._held(), self._homes()
        for dim in self._dims:
            misplaced, wanted = self._misplaced[dim], self._wanted[dim]
            if misplaced and wanted and self._are_divisible(misplaced[0], wanted[0]):
                return True
            if self._is_out_of_order(dim, homes):
                return True
        free = [axis for axes in self._wanted for axis in axes if axis not in held]
        unneeded = [axis for axes in self._misplaced for axis in axes if axis not in homes]
        return bool(free and unneeded) and self._are_divisible(free[-1], unneeded[-1])

    def _is_out_of_order(self, dim: int, homes: dict[AxisRef, tuple[int, int]]) -> bool:
        seen: set[int] = set()
        last: tuple[int, int] | None = None
        for axis in self._misplaced[dim]:
            home = homes.get(axis)
            if home is None:
                if last is not None and not self._wanted[dim]:
                    return True
            else:
                follows = last is not None and home == (last[0], last[1] + 1)
                if (home[0] == dim or home[0] in seen) and not follows:
                    return True
                seen.add(home[0])
            last = home
        return False

    def _exchange(self) -> None:
        """Choose the axes anew, as many parts in each dimension as before.

        First those that are wanted there, then others that are wanted, then those that were
        there, so that they can be gathered last, then any.
        """
        homes = self._homes()
        room: list[int] = []
        free: Axes = []
        returning: list[Axes] = []
        for dim in self._dims:
            size = self._size(self._misplaced[dim])
            left = self._fill_with_wanted(dim, size)
            unneeded = [axis for axis in self._misplaced[dim] if axis not in homes]
            returning.append(self._replaced_last(unneeded, size // left))
            self._misplaced[dim] = []
            room.append(left)
            free += self._wanted[dim]
        self._distribute([free] * len(room), room, front=False)
        self._distribute(returning, room, front=True)
        anywhere = [axis for axes in returning for axis in axes]
        self._distribute([anywhere] * len(room), room, front=True)

    def _fill_with_wanted(self, dim: int, room: int) -> int:
        """Place wanted axes while there is room; return how much is left."""
        wanted = self._wanted[dim]
        while wanted and room > 1:
            fitting, rest = fit(wanted[0], room, self._mesh)
            if fitting is None:
                break
            room //= fitting.size(self._mesh)
            self._placed[dim].append(fitting)
            wanted[:1] = [] if rest is None else [rest]
        return room

    def _replaced_last(self, axes: Axes, size: int) -> Axes:
        """Return axes with the leading ones, whose places others took, moved to the end."""
        kept = list(axes)
        replaced: Axes = []
        while kept and size > 1:
            fitting, rest = fit(kept[0], size, self._mesh)
            if fitting is None:
                break
            size //= fitting.size(self._mesh)
            replaced.append(fitting)
            kept[:1] = [] if rest is None else [rest]
        return kept + replaced

    # Moving between dimensions, and gathering.

    def _all_to_alls(self, *, in_place_only: bool) -> None:
        for source in self._dims:
            while self._all_to_all(source, in_place_only=in_place_only):
                pass

    def _all_to_all(self, source: int, *, in_place_only: bool) -> bool:
        """Carry the last axes of a dimension that go to one other dimension there.

        With `in_place_only` only if they come to their place there.
        """
        moving, homes = self._misplaced[source], self._homes()
        targets = [homes[axis][0] if axis in homes else source for axis in reversed(moving)]
        if not targets or targets[0] == source:
            return False
        target = targets[0]
        count = len(list(takewhile(lambda dim: dim == target, targets)))
        axes = moving[-count:]
        if in_place_only and axes != self._wanted[target][:count]:
            return False
        del moving[-count:]
        self._misplaced[target] += axes
        self._settle(target)
        received = self._local_bytes()
        received -= received // self._size(axes)
        merged = merge_adjacent_axes(axes, self._mesh)
        self.steps.append(AllToAll(merged, source, target, self._sharding(), received))
        return True

    def _gather(self) -> None:
        """Gather the last axes of each dimension that are wanted nowhere."""
        homes = self._homes()
        counts = []
        for misplaced in self._misplaced:
            unneeded = takewhile(lambda axis: axis not in homes, reversed(misplaced))
            counts.append(len(list(unneeded)))
        self._gather_last(counts)

    def _gather_last(self, counts: Sequence[int]) -> None:
        gathered: list[Axes] = []
        before = self._local_bytes()
        for misplaced, count in zip(self._misplaced, counts, strict=True):
            start = len(misplaced) - count
            gathered.append(misplaced[start:])
            del misplaced[start:]
        if any(gathered):
            received = self._local_bytes() - before
            self.steps.append(AllGather(self._merged(gathered), self._sharding(), received))


def _common_suffix(first: Sequence[AxisRef], second: Sequence[AxisRef]) -> int:
    """Return how many axes at the end of both are equal."""
    pairs = zip(reversed(first), reversed(second), strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
