"""Convolutions: the split that moves the least."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice, product
from typing import TYPE_CHECKING

from sdy.explain.partitioner.halos import halo_exchanges
from sdy.explain.partitioner.op_case import (
    Axes,
    OpCase,
    OpExchange,
    carry_out,
    factors_of,
    sent_bytes,
    sharding_by_factors,
)
from sdy.passes.export_pipeline.axis_alignment import split_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.sharding_rule import OpShardingRule

__all__ = ["split_convolution"]

_MOST_TRIED = 1024


def split_convolution(case: OpCase, rule: OpShardingRule) -> tuple[OpExchange, ...]:
    """Give each axis to a factor that has it in some tensor, or to none.

    XLA groups the devices along dimensions that two tensors split alike, batch, contracted or
    other, and goes on in the groups. So what the most tensors agree on comes first, then what
    moves the least, without sums if that is as good, then what splits more. Neighbours send the
    input that windows reach over the edges of shards.
    """
    axes, found = _best(case, rule)
    image = sharding_by_factors(case, rule, 0, axes)
    halo = halo_exchanges(case.operands[0], image, case.detail.windows, case.results[0])
    return (*found, OpExchange("halo", 0, image, image, halo)) if halo else found


def _best(case: OpCase, rule: OpShardingRule) -> tuple[list[Axes], tuple[OpExchange, ...]]:
    """Return the axes of each factor that cost the least, and what is exchanged for them."""
    best: tuple[int, ...] | None = None
    axes: list[Axes] = []
    result: tuple[OpExchange, ...] = ()
    for choice in _choices(case, rule):
        found = carry_out(case, rule, choice.axes, in_groups=True)
        sums = sum(one.role == "sum" for one in found)
        cost = -choice.agreeing, sent_bytes(found), sums, -sum(map(len, choice.axes))
        if best is None or cost < best:
            best, axes, result = cost, choice.axes, found
    return axes, result


@dataclass(frozen=True, slots=True)
class _Choice:
    """Axes for each factor, and how many of them two tensors agree on."""

    axes: list[Axes]
    agreeing: int


def _choices(case: OpCase, rule: OpShardingRule) -> Iterator[_Choice]:
    """Yield the ways to give the axes of the tensors to the factors."""
    homes = _homes(case, rule)
    axes = list(homes)
    choices: list[list[_Home | None]] = []
    for axis in axes:
        shared = [home for home in homes[axis] if home.is_shared]
        # What tensors agree on comes first, so an axis with such a home has no other.
        choices.append([*shared] if shared else [*homes[axis], None])
    for chosen in islice(product(*choices), _MOST_TRIED):
        placed: list[list[tuple[int, AxisRef]]] = [[] for _ in rule.factor_sizes]
        agreeing = 0
        for axis, home in zip(axes, chosen, strict=True):
            if home is not None:
                placed[home.factor].append((home.place, axis))
                agreeing += home.is_shared
        yield _Choice([tuple(axis for _, axis in sorted(each)) for each in placed], agreeing)


@dataclass(frozen=True, slots=True)
class _Home:
    """A factor that has an axis in some tensor.

    Attributes:
      factor: the factor.
      place: of the axis among those of the factor.
      is_shared: whether two tensors have it there.

    """

    factor: int
    place: int
    is_shared: bool


def _homes(case: OpCase, rule: OpShardingRule) -> dict[AxisRef, list[_Home]]:
    """Return for each axis the factors that it can split."""
    held = [factors_of(case, rule, index).factors for index in range(len(case.tensors))]
    cuts = _cuts(
        [axis for tensor in held for sharding in tensor.values() for axis in sharding.axes]
    )
    places: dict[AxisRef, dict[int, list[int]]] = {}
    for tensor in held:
        parts = split_at([sharding.axes for sharding in tensor.values()], cuts, case.mesh)
        for factor, axes in zip(tensor, parts, strict=True):
            for place, axis in enumerate(axes):
                places.setdefault(axis, {}).setdefault(factor, []).append(place)
    return {
        axis: [
            _Home(factor, found[0], len(found) > 1)
            for factor, found in by_factor.items()
            if factor not in rule.need_replication
        ]
        for axis, by_factor in places.items()
    }


def _cuts(axes: list[AxisRef]) -> list[AxisRef]:
    """Return the axes, the finest first, without those that overlap one that is finer."""
    cuts: list[AxisRef] = []
    for axis in sorted(set(axes), key=lambda a: a.sub_axis.size if a.sub_axis else math.inf):
        if not any(axis.overlaps(other) for other in cuts):
            cuts.append(axis)
    return cuts
