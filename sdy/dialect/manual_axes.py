"""Shardings on both sides of a manual computation.

Outside, a dimension's axes are manual ones followed by free ones; inside, the manual ones are
gone: the body is local along them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sdy.dialect.sharding import TensorSharding

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet

    from sdy.dialect.axes import AxisRef

__all__ = ["add_free_axes", "erase_free_axes", "erase_manual_axes"]

Axes = tuple["AxisRef", ...]


def erase_manual_axes(sharding: TensorSharding, manual_axes: AbstractSet[str]) -> TensorSharding:
    """Return `sharding` as the body sees it."""
    if not manual_axes:
        return sharding
    return _map_axes(sharding, manual_axes, lambda axes, first_free: axes[first_free:])


def erase_free_axes(sharding: TensorSharding, manual_axes: AbstractSet[str]) -> TensorSharding:
    """Return `sharding` with the manual axes of its dimensions alone."""
    return _map_axes(sharding, manual_axes, lambda axes, first_free: axes[:first_free])


def add_free_axes(
    outer: TensorSharding, inner: TensorSharding, manual_axes: AbstractSet[str]
) -> TensorSharding:
    """Return `outer` with its free axes replaced by those of `inner`.

    Dimensions are open, closed and of a priority as in `inner`.
    """
    manual = erase_free_axes(outer, manual_axes)
    dimensions = tuple(
        replace(new, axes=old.axes + new.axes)
        for old, new in zip(manual.dimensions, inner.dimensions, strict=True)
    )
    return TensorSharding(inner.mesh, dimensions, outer.replicated, outer.unreduced)


def _map_axes(
    sharding: TensorSharding, manual_axes: AbstractSet[str], change: Callable[[Axes, int], Axes]
) -> TensorSharding:
    def first_free(axes: Axes) -> int:
        is_free = (index for index, axis in enumerate(axes) if axis.name not in manual_axes)
        return next(is_free, len(axes))

    def free(axes: Axes) -> Axes:
        return tuple(axis for axis in axes if axis.name not in manual_axes)

    return replace(
        sharding,
        dimensions=tuple(
            replace(dimension, axes=change(dimension.axes, first_free(dimension.axes)))
            for dimension in sharding.dimensions
        ),
        replicated=free(sharding.replicated),
        unreduced=free(sharding.unreduced),
    )
