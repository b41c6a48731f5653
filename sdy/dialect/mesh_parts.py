"""Parts of a mesh: its devices in the order of some axes, its axes for some devices."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from sdy.dialect.axes import AxisRef
from sdy.dialect.errors import VerifyError
from sdy.dialect.mesh import Mesh
from sdy.dialect.names import quote
from sdy.dialect.tile_assignment import TileAssignment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["MeshParts", "axes_of_part"]


class MeshParts:
    """The axes of a mesh, split as far as given sub-axes ask for, to be taken one by one.

    Args:
      mesh: the mesh.
      axes: all axes and sub-axes that will be taken, or kept apart.

    Raises:
      VerifyError: if there is no split of the mesh's axes that has all of `axes`.

    """

    def __init__(self, mesh: Mesh, axes: Iterable[AxisRef]) -> None:
        self._mesh = mesh
        cuts = {axis.name: {1, axis.size} for axis in mesh.axes}
        for axis in axes:
            if axis.name not in cuts:
                raise VerifyError(f"unknown axis name: {quote(axis.name)}")
            cuts[axis.name] |= {axis.pre_size, axis.next_pre_size(mesh)}
        self._sizes = {
            (axis.name, start): end // start
            for axis in mesh.axes
            for start, end in _steps(axis.name, axis.size, cuts[axis.name])
        }
        self._places = {part: place for place, part in enumerate(self._sizes)}
        self._order: list[int] = []

    def take(self, axes: Iterable[AxisRef]) -> int:
        """Take what `axes` name, in that order, and return how many devices that is."""
        size = 1
        for axis in axes:
            start, end = axis.pre_size, axis.next_pre_size(self._mesh)
            while start < end:
                place = self._places[axis.name, start]
                if place in self._order:
                    raise VerifyError(f"axes overlap: {axis}")
                self._order.append(place)
                start *= self._sizes[axis.name, start]
            size *= axis.size(self._mesh)
        return size

    def take_rest(self) -> int:
        """Take all that is left, in the mesh's order, and return how many devices that is."""
        rest = [part for part, place in self._places.items() if place not in self._order]
        self._order += [self._places[part] for part in rest]
        return math.prod(self._sizes[part] for part in rest)

    def split_mesh(self) -> Mesh:
        """Return the mesh with each part as an axis, and the same devices in the same order.

        The parts of an axis `x` that is split are `x.0`, `x.1`, ..., major first.
        """
        axes: dict[str, int] = {}
        for axis in self._mesh.axes:
            parts = self._parts_of(axis.name)
            sizes = [self._sizes[part] for part in parts] if len(parts) > 1 else [axis.size]
            axes |= zip(self._names_of(axis.name), sizes, strict=True)
        return Mesh(axes, self._mesh.device_ids or None, self._mesh.name)

    def part_names(self, axes: Iterable[AxisRef]) -> list[str]:
        """Return the axes of the split mesh that `axes` are."""
        names = []
        for axis in axes:
            parts = self._parts_of(axis.name)
            if len(parts) < 2:
                names.append(axis.name)
                continue
            inside = range(axis.pre_size, axis.next_pre_size(self._mesh))
            named = zip(parts, self._names_of(axis.name), strict=True)
            names += [name for (_, start), name in named if start in inside]
        return names

    def _parts_of(self, name: str) -> list[tuple[str, int]]:
        return [part for part in self._sizes if part[0] == name]

    def _names_of(self, name: str) -> list[str]:
        """Return the names of an axis' parts in the split mesh, different from all others."""
        count = len(self._parts_of(name))
        if count < 2:
            return [name]
        separator = "."
        while any(self._mesh.has_axis(f"{name}{separator}{i}") for i in range(count)):
            separator += "."
        return [f"{name}{separator}{i}" for i in range(count)]

    def assignment(self, dims: Sequence[int]) -> TileAssignment:
        """Return the devices in the order in which they were taken, as an array of that shape."""
        reshape = list(self._sizes.values())
        if not self._mesh.device_ids:
            return TileAssignment.iota(dims, reshape, self._order)
        ids = self._mesh.devices().reshape(reshape).transpose(self._order)
        return TileAssignment.listed(dims, ids.reshape(-1).tolist())


def _steps(name: str, size: int, cuts: set[int]) -> Iterator[tuple[int, int]]:
    """Yield the pre-size of each part of an axis, with that of the part behind it."""
    ordered = sorted(cuts)
    for start, end in itertools.pairwise(ordered):
        if end % start or end > size:
            raise VerifyError(f"axis {quote(name)} of size {size} cannot be split at {ordered}")
        yield start, end


def axes_of_part(part: tuple[int, int], mesh: Mesh) -> list[AxisRef] | None:
    """Return the axes that make up a part of the order of devices, major first.

    Args:
      part: `[start, end)`: a sub-axis of the one axis that holds all devices, of pre-size `start`
        and size `end // start`.
      mesh: whose axes are asked for; None is returned where they have no such part.

    """
    axes: list[AxisRef] = []
    axis_end = 1
    for axis in mesh.axes:
        axis_start, axis_end = axis_end, axis_end * axis.size
        start, end = max(part[0], axis_start), min(part[1], axis_end)
        if start >= end:
            continue
        if start % axis_start or end % start or axis_end % end:
            return None
        is_whole = end // start == axis.size
        pre_size = start // axis_start
        axes.append(
            AxisRef(axis.name) if is_whole else AxisRef.sub(axis.name, pre_size, end // start)
        )
    return axes
