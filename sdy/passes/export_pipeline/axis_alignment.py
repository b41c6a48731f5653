"""Splits axes so that any two that overlap are equal, or fit into a given size."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.mesh import Mesh

__all__ = ["align", "fit", "split_at"]


def align(
    first: Sequence[Sequence[AxisRef]], second: Sequence[Sequence[AxisRef]], mesh: Mesh
) -> tuple[list[list[AxisRef]], list[list[AxisRef]]]:
    """Return both lists per dimension with their axes split where axes of the other one end.

    `"x":(1)8` and `"x":(4)4` become `"x":(1)4, "x":(4)2` and `"x":(4)2, "x":(8)2`.
    """
    cuts = [axis for axes in first for axis in axes], [axis for axes in second for axis in axes]
    return split_at(first, cuts[1], mesh), split_at(second, cuts[0], mesh)


def split_at(
    axes_per_dim: Sequence[Sequence[AxisRef]], others: Iterable[AxisRef], mesh: Mesh
) -> list[list[AxisRef]]:
    """Return the axes, each split where one of `others` begins or ends inside it.

    `others` do not overlap each other.
    """
    ordered = sorted(others)
    return [
        [part for axis in axes for part in _parts(axis, ordered, mesh)] for axes in axes_per_dim
    ]


def _parts(axis: AxisRef, others: Iterable[AxisRef], mesh: Mesh) -> list[AxisRef]:
    parts: list[AxisRef] = []
    for other in others:
        common = axis.overlap(other)
        if common is None or common == axis:
            continue
        before = axis.prefix_without_overlap(other)
        after = axis.suffix_without_overlap(other, mesh)
        parts += [common] if before is None else [before, common]
        if after is None:
            return parts
        axis = after
    return [*parts, axis]


def fit(axis: AxisRef, size: int, mesh: Mesh) -> tuple[AxisRef | None, AxisRef | None]:
    """Return the largest major part of an axis that fits into `size`, and the rest of the axis.

    None stands for no part: none fits where neither of the sizes divides the other.
    """
    own = axis.size(mesh)
    if size <= 1 or (own % size and size % own):
        return None, axis
    if size >= own:
        return axis, None
    return axis.split(size, mesh)
