"""Hypothesis strategies for the values of the dialect."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from sdy.dialect.axes import AxisRef
from sdy.dialect.mesh import Mesh, MeshAxis
from sdy.dialect.sharding import DimensionSharding, ManualAxes, TensorSharding
from sdy.dialect.sharding_rule import DimMapping, OpShardingRule, TensorMapping

NAMES = st.one_of(
    st.sampled_from(["x", "y", "data", "model"]),
    st.text(max_size=4),
    st.binary(max_size=3).map(lambda raw: raw.decode("utf-8", "surrogateescape")),
)
SYMBOLS = st.one_of(st.sampled_from(["mesh", "a.b$1", "0", "with space"]), NAMES)


def divisors(number: int) -> list[int]:
    return [divisor for divisor in range(1, number + 1) if number % divisor == 0]


@st.composite
def axes_of(draw: st.DrawFn, name: str, size: int) -> AxisRef:
    """Any valid reference to an axis of that size: full, or a sub-axis."""
    pre_size = draw(st.sampled_from(divisors(size)))
    part = draw(st.sampled_from(divisors(size // pre_size)))
    return AxisRef(name) if part in (1, size) else AxisRef.sub(name, pre_size, part)


@st.composite
def meshes(draw: st.DrawFn, *, names: st.SearchStrategy[str] = NAMES) -> Mesh:
    axis_names = draw(st.lists(names, max_size=3, unique=True))
    axes = [MeshAxis(name, draw(st.sampled_from([1, 2, 4, 6]))) for name in axis_names]
    devices = math.prod(axis.size for axis in axes)
    ids = (
        draw(st.none() | st.permutations(range(devices)))
        if axes
        else draw(st.none() | st.just([5]))
    )
    return Mesh(axes, ids, draw(st.none() | SYMBOLS))


@st.composite
def axis_parts(draw: st.DrawFn, mesh: Mesh) -> list[AxisRef]:
    """Some axes of a mesh in any order: each whole, or split once with some parts left out."""
    parts: list[AxisRef] = []
    for axis in mesh.axes:
        whole = AxisRef(axis.name)
        cuts = [d for d in divisors(axis.size) if 1 < d < axis.size]
        cut = draw(st.none() | st.sampled_from(cuts)) if cuts else None
        split = (whole,) if cut is None else whole.split(cut, mesh)
        parts += [part for part in split if draw(st.booleans())]
    return draw(st.permutations(parts))


@st.composite
def dimension_shardings(draw: st.DrawFn, axes: tuple[AxisRef, ...]) -> DimensionSharding:
    is_closed = draw(st.booleans())
    may_have_priority = bool(axes) or not is_closed
    priority = draw(st.none() | st.integers(0, 3)) if may_have_priority else None
    return DimensionSharding(axes, is_closed, priority)


@st.composite
def shardings(draw: st.DrawFn, mesh: st.SearchStrategy[Mesh] | None = None) -> TensorSharding:
    """Valid shardings, bound to a mesh."""
    bound = draw(mesh if mesh is not None else meshes())
    if bound.is_maximal:
        return TensorSharding(bound)
    rank = draw(st.integers(0, 3))
    places: list[list[AxisRef]] = [[] for _ in range(rank + 2)]
    for part in draw(axis_parts(bound)):
        place = draw(st.sampled_from(places))
        if not (place and place[-1].can_merge(part)):
            place.append(part)
    *dimensions, replicated, unreduced = places
    return TensorSharding(
        bound,
        tuple(draw(dimension_shardings(tuple(axes))) for axes in dimensions),
        _in_mesh_order(replicated, bound),
        _in_mesh_order(unreduced, bound),
    )


def _in_mesh_order(axes: list[AxisRef], mesh: Mesh) -> tuple[AxisRef, ...]:
    ordered = sorted(axes, key=lambda axis: axis.mesh_order(mesh))
    return tuple(
        axis
        for axis, before in zip(ordered, [None, *ordered], strict=False)
        if before is None or not before.can_merge(axis)
    )


MANUAL_AXES = st.lists(NAMES, max_size=3).map(lambda names: ManualAxes(tuple(names)))


@st.composite
def rules(draw: st.DrawFn) -> OpShardingRule:
    """Valid rules, with up to 25 factors so that names run beyond z."""
    count = draw(st.integers(0, 25))
    sizes = draw(st.lists(st.integers(2, 9), min_size=count, max_size=count))
    operands = [_mapping(draw, draw(st.permutations(range(count))))]
    operands += [_mapping(draw, draw(_subsets(count))) for _ in range(draw(st.integers(0, 2)))]
    in_result = draw(_subsets(count))
    kinds = draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
    return OpShardingRule(
        tuple(sizes),
        tuple(operands),
        (_mapping(draw, in_result),),
        tuple(f for f in range(count) if kinds[f] == 1 and f not in in_result),
        tuple(f for f in range(count) if kinds[f] == 2),
        tuple(f for f in range(count) if kinds[f] == 3),
        tuple(sorted(draw(_subsets(count)))),
        draw(st.booleans()),
    )


def _subsets(count: int) -> st.SearchStrategy[list[int]]:
    if not count:
        return st.just([])
    return st.lists(st.integers(0, count - 1), unique=True, max_size=count)


def _mapping(draw: st.DrawFn, factors: list[int]) -> TensorMapping:
    """Put factors into dimensions, in order; several into one at times."""
    dimensions: list[list[int]] = []
    for factor in factors:
        is_compound = draw(st.booleans())
        if dimensions and is_compound:
            dimensions[-1].append(factor)
        else:
            dimensions.append([factor])
    return TensorMapping(tuple(DimMapping(tuple(dimension)) for dimension in dimensions))
