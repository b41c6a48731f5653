"""Which dimensions exchange their splits, so that all-to-alls lead from one tiling to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.explain.partitioner.tiling import Tiling

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["all_to_all_dims", "exchanged"]


def all_to_all_dims(source: Tiling, target: Tiling) -> list[tuple[int, int]]:
    """Return the pairs of dimensions, from and to, that all-to-alls work on; none if they cannot.

    The numbers of tiles of the dimensions are to be the same in another order. Pairs are found
    one at a time from the least split dimension on, as XLA does: that decides which collectives
    there are.
    """
    if source.is_replicated or target.is_replicated:
        return []
    changed = [i for i, (a, b) in enumerate(zip(source.dims, target.dims, strict=True)) if a != b]
    now = {dim: source.dims[dim] for dim in changed}
    if sorted(now.values()) != sorted(target.dims[dim] for dim in changed):
        return []
    pairs: list[tuple[int, int]] = []
    while now:
        size = min(now.values())
        # The last dimension of that size; one that was moved to there stays the last.
        dim = [d for d, n in now.items() if n == size][-1]
        wanted = target.dims[dim]
        if wanted == size:
            del now[dim]
            continue
        if wanted % size:
            return []
        partner = _partner([d for d, n in now.items() if n == wanted], size, target)
        pairs.append((partner, dim))
        del now[dim]
        del now[partner]
        now[partner] = size
    return pairs


def _partner(candidates: Sequence[int], size: int, target: Tiling) -> int:
    """Return the dimension to exchange with.

    Best is one that is done then; where nothing is split, one of which the place is of use.
    """
    if size == 1:
        fitting = (d for d in candidates if target.dims[d] != 1)
    else:
        fitting = (d for d in candidates if target.dims[d] == size)
    return next(fitting, candidates[-1])


def exchanged(tiling: Tiling, pairs: Sequence[tuple[int, int]]) -> Tiling:
    """Return the tiling after all-to-alls: the minor tiles of `source` go behind those of `target`.

    Args:
      tiling: the tiling before.
      pairs: the dimensions `(source, target)` that exchange their numbers of tiles.

    """
    for source, target in pairs:
        dims = tiling.dims
        split: list[int] = []
        minor = {source: dims[source] // dims[target], target: 1}
        places: dict[int, int] = {}
        for dim, count in enumerate(dims):
            split.append(count // minor.get(dim, 1))
            if dim in minor:
                split.append(minor[dim])
                places[dim] = len(split) - 1
        order = list(range(len(split) + 1))
        order[places[source]], order[places[target]] = places[target], places[source]
        devices = tiling.array().reshape(*split, tiling.replicas).transpose(*order)
        swapped = list(dims)
        swapped[source], swapped[target] = dims[target], dims[source]
        tiling = Tiling.of(swapped, devices)
    return tiling
