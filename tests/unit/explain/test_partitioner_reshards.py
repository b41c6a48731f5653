"""Reshards as XLA's partitioner does them: kinds and bytes, worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sdy
from sdy.explain.partitioner.reshards import Reshard, reshard
from sdy.explain.partitioner.tiling import Tiling, tiling_of
from tests.corpus.reshard_pairs import EVEN_MESHES, random_pair

MESH = sdy.Mesh({"x": 2, "y": 4}, name="mesh")


def tiling(text: str, mesh: sdy.Mesh = MESH) -> Tiling:
    return tiling_of(sdy.parse_sharding(f"<@mesh, {text}>", mesh))


def brought(before: str, after: str, *shape: int) -> Reshard:
    return reshard(tiling(before), tiling(after), shape, 4)


def test_tiling_says_which_devices_hold_each_tile() -> None:
    assert tiling('[{"y"}, {}]').array().tolist() == [[[0, 4]], [[1, 5]], [[2, 6]], [[3, 7]]]
    assert tiling('[{"y"}, {"x"}]').replicas == 1
    assert tiling("[{}, {}]").is_replicated


def test_equal_tilings_have_equal_devices_whatever_the_axes_are_called() -> None:
    flat = sdy.Mesh({"all": 8}, name="mesh")
    assert tiling('[{"x", "y"}]') == tiling('[{"all"}]', flat)
    assert tiling('[{"y", "x"}]') != tiling('[{"all"}]', flat)


def test_groups_differ_in_one_dimension_alone() -> None:
    assert tiling('[{"x"}, {"y"}]').groups([1]) == ((0, 1, 2, 3), (4, 5, 6, 7))
    assert tiling('[{"x"}, {"y"}]').groups([0]) == ((0, 4), (1, 5), (2, 6), (3, 7))


CASES = [
    # Eight rows on each device come to sixteen.
    ('[{"x"}, {}]', "[{}, {}]", [("all-gather", 16 * 8 * 4)]),
    ("[{}, {}]", '[{"x"}, {"y"}]', []),
    # A device hands out three quarters of its [4, 8] and keeps one.
    ('[{"y"}, {}]', '[{}, {"y"}]', [("all-to-all", 4 * 8 * 4)]),
    ('[{"x", "y"}, {}]', '[{"y", "x"}, {}]', [("collective-permute", 2 * 8 * 4)]),
    # The last dimension is gathered first: [8, 2] to [8, 8] to [16, 8].
    (
        '[{"x"}, {"y"}]',
        "[{}, {}]",
        [("all-gather", 8 * 8 * 4), ("all-gather", 16 * 8 * 4)],
    ),
]


@pytest.mark.parametrize(("before", "after", "expected"), CASES)
def test_reshards(before: str, after: str, expected: list[tuple[str, int]]) -> None:
    found = brought(before, after, 16, 8)
    assert [(e.kind, e.bytes) for e in found.exchanges] == expected
    assert not found.is_full_rematerialization


def test_a_dimension_of_one_element_is_sent_to_all_by_a_sum() -> None:
    (exchange,) = brought('[{"y"}, {}]', "[{}, {}]", 1, 8).exchanges
    assert (exchange.kind, exchange.bytes, exchange.group_size) == ("all-reduce", 32, 4)


def test_from_one_replicated_axis_to_another_everything_is_gathered() -> None:
    found = brought('[{"x"}, {}]', '[{}, {"y"}]', 16, 8)
    assert found.is_full_rematerialization
    assert [(e.kind, e.bytes) for e in found.exchanges] == [("all-gather", 16 * 8 * 4)]


def test_bytes_sent_are_those_of_rings() -> None:
    (gather,) = brought('[{"y"}, {}]', "[{}, {}]", 16, 8).exchanges
    assert gather.sent == 16 * 8 * 4 * 3 // 4


@pytest.mark.parametrize("seed", range(200))
def test_what_moves_is_enough(seed: int) -> None:
    """A device receives at least those elements that it needs and has not."""
    before, after, _ = random_pair(seed, EVEN_MESHES)
    source, target = tiling_of(before), tiling_of(after)
    shape = tuple(map(math.lcm, source.dims, target.dims))
    missing = 0
    for device in range(len(source.devices)):
        held, needed = (_elements(t, shape, device) for t in (source, target))
        missing = max(missing, int((needed & ~held).sum()))
    found = reshard(source, target, shape, 1)
    assert sum(exchange.bytes for exchange in found.exchanges) >= missing


def _elements(tiles: Tiling, shape: tuple[int, ...], device: int) -> np.ndarray:
    mask = np.zeros(shape, bool)
    place = tiles.tile_indices()[device]
    local = tiles.local_shape(shape)
    mask[tuple(slice(p * n, (p + 1) * n) for p, n in zip(place, local, strict=True))] = True
    return mask
