"""The arithmetic of sub-axes, against plain enumeration of what they stand for.

An axis of size n numbers n coordinates. A sub-axis `(m)k` splits them by their digit: it tells
coordinates apart by `coordinate // (n / (m*k)) % k`. Written as sets, a sub-axis is the set of
"cut levels" between m and m*k: the prime factors of n, major first, that it holds.
"""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdy.dialect.axes import (
    AxisRef,
    axes_size,
    axes_without,
    greatest_common_prefix,
    join_axes,
    merge_adjacent_axes,
    prefix_without_overlap,
)
from sdy.dialect.mesh import Mesh
from tests.unit.dialect.strategies import axes_of, divisors

if TYPE_CHECKING:
    from collections.abc import Iterable

# A power of two: every two sub-axes of it can coexist, so each is a set of binary digits.
BINARY = Mesh({"a": 32, "b": 4})
MIXED = Mesh({"a": 12})
X, Y = AxisRef("a"), AxisRef("b")


def sub(pre_size: int, size: int) -> AxisRef:
    return AxisRef.sub("a", pre_size, size)


def digits(axis: AxisRef | None) -> set[tuple[str, int]]:
    """Return the binary digits of the coordinates that `axis` tells apart, 0 the most major."""
    if axis is None:
        return set()
    start = axis.pre_size.bit_length() - 1
    return {(axis.name, start + i) for i in range(axis.size(BINARY).bit_length() - 1)}


def digits_in_order(axes: Iterable[AxisRef]) -> list[tuple[str, int]]:
    return [digit for axis in axes for digit in sorted(digits(axis))]


def index_along(axis: AxisRef, mesh: Mesh, coordinate: int) -> int:
    size = mesh.axis_size(axis.name)
    return coordinate // (size // axis.next_pre_size(mesh)) % axis.size(mesh)


def groups(axis: AxisRef, mesh: Mesh) -> set[frozenset[int]]:
    """Return the sets of coordinates that `axis` does not tell apart."""
    size = mesh.axis_size(axis.name)
    ordered = sorted(range(size), key=lambda c: index_along(axis, mesh, c))
    by_index = groupby(ordered, key=lambda c: index_along(axis, mesh, c))
    return {frozenset(group) for _, group in by_index}


binary_axes = st.sampled_from([("a", 32), ("b", 4)]).flatmap(lambda axis: axes_of(*axis))
mixed_axes = axes_of("a", 12)


@given(binary_axes, binary_axes)
def test_relations_are_those_of_the_digits(first: AxisRef, second: AxisRef) -> None:
    mine, others = digits(first), digits(second)
    assert first.contains(second) == (mine >= others)
    assert first.strictly_contains(second) == (mine > others)
    assert first.overlaps(second) == bool(mine & others)
    assert first.is_prefix_of(second) == (mine <= others and min(mine) == min(others))
    assert first.is_strict_prefix_of(second) == (mine < others and min(mine) == min(others))
    assert first.is_suffix_of(second, BINARY) == (mine <= others and max(mine) == max(others))
    assert first.can_coexist(second)


@given(binary_axes, binary_axes)
def test_parts_are_those_of_the_digits(first: AxisRef, second: AxisRef) -> None:
    mine, others = digits(first), digits(second)
    common = mine & others
    assert digits(first.overlap(second)) == common
    before = {digit for digit in mine if not common or digit < min(common)}
    after = {digit for digit in mine if not common or digit > max(common)}
    assert digits(first.prefix_without_overlap(second)) == before
    assert digits(first.suffix_without_overlap(second, BINARY)) == after
    same_start = min(mine) == min(others)
    assert digits(first.greatest_common_prefix(second)) == (common if same_start else set())


@given(mixed_axes, mixed_axes)
def test_two_sub_axes_can_coexist_if_one_reshape_has_the_cuts_of_both(
    first: AxisRef, second: AxisRef
) -> None:
    cuts = sorted(
        {axis.pre_size for axis in (first, second)}
        | {axis.next_pre_size(MIXED) for axis in (first, second)}
    )
    one_reshape = all(high % low == 0 for low, high in pairwise(cuts))
    assert first.can_coexist(second) == one_reshape
    if not one_reshape:
        assert first.overlap(second) is None
        assert first.prefix_without_overlap(second) is None
        assert first.suffix_without_overlap(second, MIXED) is None
        assert first.greatest_common_prefix(second) is None


@given(mixed_axes, st.data())
def test_split_parts_tell_apart_what_the_whole_does(axis: AxisRef, data: st.DataObject) -> None:
    size = axis.size(MIXED)
    proper = [divisor for divisor in divisors(size) if 1 < divisor < size]
    for wrong in {0, 1, size, size + 1, 5}:
        with pytest.raises(ValueError, match=r"cannot split"):
            axis.split(wrong, MIXED)
    if not proper:
        return
    major, minor = axis.split(data.draw(st.sampled_from(proper)), MIXED)
    both = {mine & theirs for mine in groups(major, MIXED) for theirs in groups(minor, MIXED)}
    assert both == groups(axis, MIXED)
    assert major.merge(minor, MIXED) == axis
    assert join_axes((major,), (minor,), MIXED) == (axis,)
    assert major.can_merge(minor)
    assert not minor.can_merge(major)


@given(st.lists(binary_axes, max_size=4), st.lists(binary_axes, max_size=4))
def test_the_greatest_common_prefix_of_lists_is_a_prefix_of_both(
    first: list[AxisRef], second: list[AxisRef]
) -> None:
    prefix = greatest_common_prefix(first, second)
    length = len(digits_in_order(prefix))
    for axes in (first, second):
        assert digits_in_order(prefix) == digits_in_order(axes)[:length]
    assert greatest_common_prefix(first, first) == tuple(first)


@given(st.lists(binary_axes, max_size=3), st.lists(binary_axes, max_size=3))
def test_axes_without_others_have_the_digits_that_those_lack(
    axes: list[AxisRef], others: list[AxisRef]
) -> None:
    taken = set(digits_in_order(others))
    expected = [digit for digit in digits_in_order(axes) if digit not in taken]
    assert digits_in_order(axes_without(axes, others, BINARY)) == expected


def test_the_order_of_axes() -> None:
    mesh = Mesh({"b": 4, "a": 8})
    by_name = [sub(1, 2), sub(1, 4), X, sub(2, 2), sub(4, 2), Y]
    assert sorted([*by_name[::2], *by_name[1::2]]) == by_name
    by_mesh = [Y, sub(1, 2), X, sub(2, 4)]
    assert (
        sorted([*by_mesh[::2], *by_mesh[1::2]], key=lambda axis: axis.mesh_order(mesh)) == by_mesh
    )


def test_sizes_and_places() -> None:
    assert (X.size(BINARY), X.pre_size, X.next_pre_size(BINARY)) == (32, 1, 32)
    part = sub(2, 4)
    assert (part.size(BINARY), part.pre_size, part.next_pre_size(BINARY)) == (4, 2, 8)
    assert axes_size([part, Y], BINARY) == 16
    assert str(part) == '"a":(2)4'
    assert str(X) == '"a"'


def test_merging_runs_of_sub_axes() -> None:
    axes = [sub(1, 2), sub(2, 4), Y, sub(8, 2), sub(16, 2)]
    assert merge_adjacent_axes(axes, BINARY) == (sub(1, 8), Y, sub(8, 4))
    assert merge_adjacent_axes([sub(1, 8), sub(8, 4)], BINARY) == (X,)
    assert merge_adjacent_axes([], BINARY) == ()
    with pytest.raises(ValueError, match=r'"a":\(1\)2 does not follow "b"'):
        Y.merge(sub(1, 2), BINARY)


def test_prefix_that_avoids_several_axes() -> None:
    assert prefix_without_overlap(X, [sub(8, 2), sub(4, 2), Y]) == sub(1, 4)
    assert prefix_without_overlap(X, [sub(1, 2), sub(4, 2)]) is None
    assert prefix_without_overlap(Y, [sub(1, 2)]) == Y
