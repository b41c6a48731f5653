"""User priorities: dimensions of priority 0 propagate first, then each greater one in turn.

The idea is Shardy's `UserPriorityPropagation`: a dimension whose turn has not come is closed and
empty, and its axes are kept from others by being replicated.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sdy.dialect.sharding import DimensionSharding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sdy.dialect.sharding import TensorSharding
    from sdy.passes.propagation.engine import Engine

__all__ = ["user_priority_rounds"]


def user_priority_rounds(engine: Engine, between: Callable[[int], None]) -> Iterator[int]:
    """Prepare the shardings for each user priority in use, lowest first, and yield it.

    The first is always 0. A tensor that is gone when its priority comes is passed over.

    Args:
      engine: the engine, which runs a round when a priority is yielded.
      between: called with every priority but the last, after its round.

    """
    waiting = _prepare_first(engine)
    yield 0
    previous = 0
    for priority in sorted(waiting):
        between(previous)
        previous = priority
        for tensor, original in waiting[priority]:
            current = engine.tensors.sharding(tensor)
            if current is not None and not engine.is_gone(tensor):
                engine.reassign(tensor, _with_priority(current, original, priority))
        yield priority


def _prepare_first(engine: Engine) -> dict[int, list[tuple[int, TensorSharding]]]:
    """Hold back all dimensions of priority above 0; return the tensors of each priority."""
    waiting: dict[int, list[tuple[int, TensorSharding]]] = {}
    held_back: dict[TensorSharding, TensorSharding] = {}
    for tensor in engine.tensors.with_priorities():
        original = engine.tensors.sharding(tensor)
        if original is None:
            continue
        for priority in {d.priority_or_default for d in original.dimensions} - {0}:
            waiting.setdefault(priority, []).append((tensor, original))
        if original not in held_back:
            held_back[original] = _held_back(original)
        engine.reassign(tensor, held_back[original])
    return waiting


def _held_back(sharding: TensorSharding) -> TensorSharding:
    """Return `sharding` with the axes of priorities above 0 replicated, their dimensions closed."""
    replicated = list(sharding.replicated)
    dimensions = []
    for dimension in sharding.dimensions:
        if dimension.priority_or_default == 0:
            dimensions.append(dimension.without_priority())
        else:
            replicated += dimension.axes
            dimensions.append(DimensionSharding())
    mesh = sharding.bound_mesh
    replicated.sort(key=lambda axis: axis.mesh_order(mesh))
    return replace(sharding, dimensions=tuple(dimensions), replicated=tuple(replicated))


def _with_priority(
    current: TensorSharding, original: TensorSharding, priority: int
) -> TensorSharding:
    """Return `current` with the dimensions of `priority` as they were in `original`."""
    released = {
        axis
        for dimension in original.dimensions
        if dimension.priority_or_default == priority
        for axis in dimension.axes
    }
    return replace(
        current,
        dimensions=tuple(
            old.without_priority() if old.priority_or_default == priority else now
            for now, old in zip(current.dimensions, original.dimensions, strict=True)
        ),
        replicated=tuple(axis for axis in current.replicated if axis not in released),
    )
