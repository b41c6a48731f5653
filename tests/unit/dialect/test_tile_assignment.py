"""Devices counted or listed: both say which device is at which place."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sdy.dialect.tile_assignment import TileAssignment


@st.composite
def assignments(draw: st.DrawFn) -> TileAssignment:
    """Draw an assignment of up to 64 devices, counted or listed."""
    sizes = draw(st.lists(st.sampled_from([1, 2, 3, 4]), min_size=1, max_size=3))
    order = draw(st.permutations(range(len(sizes))))
    total = math.prod(sizes)
    split = draw(st.sampled_from([n for n in range(1, total + 1) if total % n == 0]))
    dims = (split, total // split)
    if draw(st.booleans()):
        return TileAssignment.iota(dims, sizes, order)
    return TileAssignment.listed(dims, draw(st.permutations(range(total))))


def test_counting_is_reshape_transpose_reshape() -> None:
    assert TileAssignment.iota((3, 2), (2, 3), (1, 0)).devices().tolist() == [
        [0, 3],
        [1, 4],
        [2, 5],
    ]


def test_the_shortest_form_has_no_neighbours_and_no_ones() -> None:
    assert str(TileAssignment.iota((24,), (2, 1, 3, 4), (2, 3, 1, 0))) == (
        "devices=[24]<=[2,12]T(1,0)"
    )
    assert str(TileAssignment.iota((1,), (1, 1), (1, 0))) == "devices=[1]<=[1]"


def test_a_tile_that_straddles_dimensions_is_listed_when_transposed() -> None:
    straddling = TileAssignment.iota((2, 3), (2, 3), (1, 0))
    assert str(straddling.transposed((1, 0))) == "devices=[3,2]0,4,3,2,1,5"


@given(assignments())
def test_transposing_transposes_the_devices(tiles: TileAssignment) -> None:
    np.testing.assert_array_equal(tiles.transposed((1, 0)).devices(), tiles.devices().T)


@given(assignments())
def test_sorting_sorts_the_last_dimension(tiles: TileAssignment) -> None:
    np.testing.assert_array_equal(
        tiles.sorted_along_last().devices(), np.sort(tiles.devices(), axis=-1)
    )
