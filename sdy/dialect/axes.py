"""Axes and sub-axes of a mesh, and the arithmetic on them.

A sub-axis `"x":(m)k` of an axis of size n is the middle dimension of that axis reshaped
to `[m, k, n/(m*k)]`: `m` is its pre-size, `k` its size. All arithmetic here works on the
half-open interval `[m, m*k)` in which a sub-axis lies.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, final

from mypy_extensions import i64, mypyc_attr

from sdy.dialect.immutable import Immutable
from sdy.dialect.names import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sdy.dialect.mesh import Mesh

__all__ = [
    "AxisRef",
    "SubAxis",
    "axes_size",
    "axes_without",
    "greatest_common_prefix",
    "join_axes",
    "merge_adjacent_axes",
    "prefix_without_overlap",
    "quote",
]


@final
@mypyc_attr(acyclic=True)
@dataclass(frozen=True, slots=True, init=False, eq=False)
class SubAxis(Immutable):
    """The part `(pre_size)size` of an axis."""

    pre_size: int
    size: int

    def __init__(self, pre_size: int, size: int) -> None:
        object.__setattr__(self, "pre_size", pre_size)
        object.__setattr__(self, "size", size)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SubAxis):
            return NotImplemented
        return self.pre_size == other.pre_size and self.size == other.size

    def __hash__(self) -> int:
        return hash((self.pre_size, self.size))

    def __lt__(self, other: SubAxis) -> bool:
        return (self.pre_size, self.size) < (other.pre_size, other.size)

    @property
    def next_pre_size(self) -> int:
        """The pre-size of a sub-axis that follows this one."""
        return self.pre_size * self.size

    def __str__(self) -> str:
        return f"({self.pre_size}){self.size}"


@final
@mypyc_attr(acyclic=True)
@dataclass(frozen=True, slots=True, init=False, eq=False)
class AxisRef(Immutable):
    """A reference to a full axis of a mesh or to one of its sub-axes."""

    name: str
    sub_axis: SubAxis | None
    _hash: i64 = field(init=False, repr=False, compare=False)

    def __init__(self, name: str, sub_axis: SubAxis | None = None) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "sub_axis", sub_axis)
        object.__setattr__(self, "_hash", 0)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AxisRef):
            return NotImplemented
        return self.name == other.name and self.sub_axis == other.sub_axis

    def __hash__(self) -> int:
        # Kept, because each sharding that is looked up hashes its axes.
        if self._hash == 0:
            object.__setattr__(self, "_hash", hash((self.name, self.sub_axis)))
        return self._hash

    @staticmethod
    def sub(name: str, pre_size: int, size: int) -> AxisRef:
        """Return the sub-axis `"name":(pre_size)size`."""
        return AxisRef(name, SubAxis(pre_size, size))

    def __str__(self) -> str:
        return quote(self.name) + (f":{self.sub_axis}" if self.sub_axis else "")

    def __lt__(self, other: AxisRef) -> bool:
        return (self.name, *self._extent()) < (other.name, *other._extent())

    def _extent(self) -> tuple[int, bool, int]:
        """Return the key that sorts parts of one axis: by start, then by size, all of it last."""
        part = self.sub_axis
        return (1, True, 0) if part is None else (part.pre_size, False, part.size)

    def mesh_order(self, mesh: Mesh) -> tuple[int, int, bool, int]:
        """Return the key that sorts axes as they lie in `mesh`, major first."""
        return (mesh.axis_index(self.name), *self._extent())

    @property
    def pre_size(self) -> int:
        """The product of the sizes of what is major to this within its axis."""
        return self.sub_axis.pre_size if self.sub_axis else 1

    def size(self, mesh: Mesh) -> int:
        """Return the number of parts into which this splits a dimension."""
        return self.sub_axis.size if self.sub_axis else mesh.axis_size(self.name)

    def next_pre_size(self, mesh: Mesh) -> int:
        """Return the pre-size of what follows this within its axis."""
        return self.pre_size * self.size(mesh)

    def contains(self, other: AxisRef) -> bool:
        """Return whether `other` is this or a part of this."""
        if self.name != other.name:
            return False
        own, part = self.sub_axis, other.sub_axis
        if own is None:
            return True
        if part is None:
            return False
        return own.pre_size <= part.pre_size and own.next_pre_size >= part.next_pre_size

    def strictly_contains(self, other: AxisRef) -> bool:
        """Return whether `other` is a part of this and not this."""
        return self != other and self.contains(other)

    def is_prefix_of(self, other: AxisRef) -> bool:
        """Return whether this is `other` or a major part of it."""
        return other.contains(self) and self.pre_size == other.pre_size

    def is_strict_prefix_of(self, other: AxisRef) -> bool:
        """Return whether this is a major part of `other` and not `other`."""
        return self != other and self.is_prefix_of(other)

    def is_suffix_of(self, other: AxisRef, mesh: Mesh) -> bool:
        """Return whether this is `other` or a minor part of it."""
        return other.contains(self) and self.next_pre_size(mesh) == other.next_pre_size(mesh)

    def overlaps(self, other: AxisRef) -> bool:
        """Return whether some part of the axis is in both."""
        if self.name != other.name:
            return False
        own, part = self.sub_axis, other.sub_axis
        if own is None or part is None:
            return True
        return own.pre_size < part.next_pre_size and part.pre_size < own.next_pre_size

    def can_coexist(self, other: AxisRef) -> bool:
        """Return whether one split of the axis has both as unions of its parts.

        `"x":(1)2` and `"x":(3)2` of an axis of size 6 cannot: no reshape has a dimension that
        starts at 2 and one that starts at 3.
        """
        if self.name != other.name or not self.sub_axis or not other.sub_axis:
            return True
        starts = sorted((self.sub_axis.pre_size, other.sub_axis.pre_size))
        ends = sorted((self.sub_axis.next_pre_size, other.sub_axis.next_pre_size))
        cuts = sorted(starts + ends)
        return all(high % low == 0 for low, high in pairwise(cuts))

    def overlap(self, other: AxisRef) -> AxisRef | None:
        """Return the part that both have in common; None where there is none."""
        if not self.overlaps(other) or not self.can_coexist(other):
            return None
        if not self.sub_axis:
            return other
        if not other.sub_axis:
            return self
        start = max(self.sub_axis.pre_size, other.sub_axis.pre_size)
        end = min(self.sub_axis.next_pre_size, other.sub_axis.next_pre_size)
        return AxisRef.sub(self.name, start, end // start)

    def prefix_without_overlap(self, other: AxisRef) -> AxisRef | None:
        """Return the longest major part of this that is not in `other`; None where it is empty."""
        if not self.can_coexist(other):
            return None
        if not self.overlaps(other):
            return self
        if self.pre_size >= other.pre_size:
            return None
        return AxisRef.sub(self.name, self.pre_size, other.pre_size // self.pre_size)

    def suffix_without_overlap(self, other: AxisRef, mesh: Mesh) -> AxisRef | None:
        """Return the longest minor part of this that is not in `other`; None where it is empty."""
        if not self.can_coexist(other):
            return None
        if not self.overlaps(other):
            return self
        end, other_end = self.next_pre_size(mesh), other.next_pre_size(mesh)
        if end <= other_end:
            return None
        return AxisRef.sub(self.name, other_end, end // other_end)

    def greatest_common_prefix(self, other: AxisRef) -> AxisRef | None:
        """Return the longest axis that is a prefix of both; None where there is none."""
        if not self.can_coexist(other):
            return None
        if self.is_prefix_of(other):
            return self
        return other if other.is_prefix_of(self) else None

    def can_merge(self, other: AxisRef) -> bool:
        """Return whether `other` follows this directly within the same axis."""
        return (
            self.name == other.name
            and self.sub_axis is not None
            and other.sub_axis is not None
            and self.sub_axis.next_pre_size == other.sub_axis.pre_size
        )

    def merge(self, other: AxisRef, mesh: Mesh) -> AxisRef:
        """Return this and the directly following `other` as one, the full axis if that is all.

        Raises:
          ValueError: if `other` does not follow this.

        """
        if not (self.can_merge(other) and self.sub_axis and other.sub_axis):
            raise ValueError(f"{other} does not follow {self}")
        size = self.sub_axis.size * other.sub_axis.size
        if size == mesh.axis_size(self.name):
            return AxisRef(self.name)
        return AxisRef.sub(self.name, self.sub_axis.pre_size, size)

    def split(self, size: int, mesh: Mesh) -> tuple[AxisRef, AxisRef]:
        """Return the major part of this of the given size, and the rest.

        Raises:
          ValueError: if `size` is not a proper divisor of this axis' size.

        """
        whole = self.size(mesh)
        if not 1 < size < whole or whole % size:
            raise ValueError(f"cannot split {self} of size {whole} at {size}")
        major = AxisRef.sub(self.name, self.pre_size, size)
        return major, AxisRef.sub(self.name, self.pre_size * size, whole // size)


def axes_size(axes: Iterable[AxisRef], mesh: Mesh) -> int:
    """Return the product of the sizes of `axes`."""
    size = 1
    for axis in axes:
        size *= axis.size(mesh)
    return size


def join_axes(
    first: tuple[AxisRef, ...], second: tuple[AxisRef, ...], mesh: Mesh
) -> tuple[AxisRef, ...]:
    """Return `first` followed by `second`, merged where the two meet."""
    if first and second and first[-1].can_merge(second[0]):
        return (*first[:-1], first[-1].merge(second[0], mesh), *second[1:])
    return first + second


def merge_adjacent_axes(axes: Iterable[AxisRef], mesh: Mesh) -> tuple[AxisRef, ...]:
    """Return `axes` with every run of consecutive sub-axes merged."""
    merged: list[AxisRef] = []
    for axis in axes:
        if merged and merged[-1].can_merge(axis):
            merged[-1] = merged[-1].merge(axis, mesh)
        else:
            merged.append(axis)
    return tuple(merged)


def axes_without(
    axes: Iterable[AxisRef], others: Iterable[AxisRef], mesh: Mesh
) -> tuple[AxisRef, ...]:
    """Return what is left of each of `axes` where the parts that are in `others` are taken out."""
    left: list[AxisRef | None] = []
    taken = sorted(others)
    for axis in axes:
        rest: AxisRef | None = axis
        for other in taken:
            if rest is not None and rest.overlaps(other):
                left.append(rest.prefix_without_overlap(other))
                rest = rest.suffix_without_overlap(other, mesh)
        left.append(rest)
    return tuple(axis for axis in left if axis is not None)


def prefix_without_overlap(axis: AxisRef, others: Iterable[AxisRef]) -> AxisRef | None:
    """Return the longest major part of `axis` that is in none of `others`; None if empty."""
    result: AxisRef | None = axis
    for other in others:
        if result is None:
            return None
        if other.name == axis.name:
            result = result.prefix_without_overlap(other)
    return result


def greatest_common_prefix(
    first: Sequence[AxisRef], second: Sequence[AxisRef]
) -> tuple[AxisRef, ...]:
    """Return the longest axis list that is a prefix of both lists."""
    prefix: list[AxisRef] = []
    for left, right in zip(first, second, strict=False):
        common = left.greatest_common_prefix(right)
        if common is not None:
            prefix.append(common)
        if left != right:
            break
    return tuple(prefix)
