"""When two HloShardings mean the same, and the one way to write each."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from sdy.dialect.hlo_sharding import HloSharding, SubgroupKind
from sdy.dialect.tile_assignment import TileAssignment


def parse(text: str) -> HloSharding:
    return HloSharding.parse(text)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("{devices=[2,2]0,1,2,3}", "{devices=[2,2]<=[4]}"),
        ("{devices=[2,3]0,3,1,4,2,5}", "{devices=[2,3]<=[2,3]T(1,0)}"),
        ("{devices=[8]0,4,2,6,1,5,3,7}", "{devices=[8]<=[2,2,2]T(2,1,0)}"),
        ("{devices=[2,2]3,1,2,0}", "{devices=[2,2]3,1,2,0}"),
        ("{devices=[4]0,2,4,6}", "{devices=[4]0,2,4,6}"),
        ("{devices=[6]0,1,2,4,3,5}", "{devices=[6]0,1,2,4,3,5}"),
        ("{devices=[2,2]0,1,2,3 shard_as 4}", "{devices=[2,2]<=[4] shard_as 4}"),
        ("{devices=[1,1]5}", "{maximal device=5}"),
        (
            "{mesh['x'=2,'y'=2], [{'y'}, {?}]}",
            "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}",
        ),
        ("{mesh['x'=2,'y'=2], [{}, {?}]}", "{replicated}"),
        ("{mesh['x'=2,'y'=2], manual}", "{manual}"),
        ("{maximal_mesh[device_id=3]}", "{maximal device=3}"),
        ("{single_device[device_id=3]}", "{maximal device=3}"),
        ("{{devices=[2]0,1}, {manual}}", "{{devices=[2]<=[2]}, {manual}}"),
    ],
)
def test_devices_are_counted_where_there_is_a_way(text: str, canonical: str) -> None:
    assert str(parse(text).canonical()) == canonical


def test_every_count_is_found_from_its_list() -> None:
    random = Random(0)
    for _ in range(300):
        reshape = random.choices([1, 2, 2, 3, 4], k=random.randint(1, 5))
        order = random.sample(range(len(reshape)), len(reshape))
        counted = TileAssignment.iota([int(np.prod(reshape))], reshape, order)
        listed = TileAssignment.listed(counted.dims, counted.devices().tolist())
        assert listed.canonical() == counted


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("{devices=[2,2]0,1,2,3}", "{devices=[2,2]<=[4]}"),
        ("{devices=[2,2]<=[4]}", "{mesh['x'=2,'y'=2], [{'x'}, {'y', ?}]}"),
        ("{devices=[2,2]<=[4] shard_as 1}", "{devices=[2,2]<=[4] shard_like 2}"),
        ("{replicated}", '{replicated metadata={op_name="a"}}'),
        ("{replicated}", "{devices=[1,4]<=[4] last_tile_dim_replicate}"),
        (
            "{devices=[2,2]0,3,1,2 last_tile_dims={manual}}",
            "{devices=[2,2]3,0,2,1 last_tile_dims={manual}}",
        ),
        (
            "{devices=[2,2]0,3,1,2 last_tile_dims={unreduced}}",
            "{devices=[2,2]0,3,2,1 last_tile_dims={unreduced}}",
        ),
        ("{{devices=[2]0,1}, {manual}}", "{{devices=[2]<=[2]}, {manual}}"),
    ],
)
def test_the_same_data_on_every_device(first: str, second: str) -> None:
    assert parse(first).is_equivalent(parse(second))
    assert parse(second).is_equivalent(parse(first))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("{devices=[2,2]<=[4]}", "{devices=[2,2]<=[2,2]T(1,0)}"),
        ("{devices=[2,2]<=[4]}", "{devices=[4,1]<=[4]}"),
        ("{devices=[2,1]<=[2]}", "{devices=[2,1]<=[2] last_tile_dim_replicate}"),
        ("{devices=[2]<=[2]}", "{devices=[2,2]<=[4] last_tile_dim_replicate}"),
        ("{devices=[2]0,1}", "{devices=[2]0,2}"),
        ("{replicated}", "{manual}"),
        ("{replicated}", "{unknown}"),
        ("{maximal device=0}", "{maximal device=1}"),
        ("{maximal device=0}", "{replicated}"),
        (
            "{devices=[2,2]0,3,1,2 last_tile_dims={manual}}",
            "{devices=[2,2]0,3,2,1 last_tile_dims={manual}}",
        ),
        (
            "{devices=[2,2]<=[4] last_tile_dims={manual}}",
            "{devices=[2,2]<=[4] last_tile_dims={unreduced}}",
        ),
        (
            "{devices=[1,2,2]<=[4] last_tile_dims={unreduced, replicated}}",
            "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dims={unreduced, replicated}}",
        ),
        ("{{manual}}", "{{manual}, {manual}}"),
        ("{}", "{replicated}"),
    ],
)
def test_other_data_on_some_device(first: str, second: str) -> None:
    assert not parse(first).is_equivalent(parse(second))
    assert not parse(second).is_equivalent(parse(first))


def held(sharding: HloSharding) -> tuple[object, ...]:
    """Return what each device holds, and the devices that work together, as plain sets."""
    assert sharding.tiles is not None
    rank = len(sharding.data_dims)
    tile: dict[int, tuple[int, ...]] = {}
    by_manual: dict[int, set[int]] = {}
    by_part: dict[object, set[int]] = {}
    for place in np.ndindex(sharding.tiles.dims):
        device = int(sharding.tiles.devices()[place])
        kinds = dict(zip(sharding.subgroups, place[rank:], strict=True))
        manual = kinds.get(SubgroupKind.MANUAL, 0)
        tile[device] = place[:rank]
        by_manual.setdefault(manual, set()).add(device)
        part = (place[:rank], manual, kinds.get(SubgroupKind.UNREDUCED, 0))
        by_part.setdefault(part, set()).add(device)
    groups = [frozenset(map(frozenset, groups.values())) for groups in (by_manual, by_part)]
    return (sharding.data_dims, tile, *groups)


def test_equivalence_is_equality_of_what_is_held() -> None:
    random = Random(1)
    found = {True: 0, False: 0}
    for _ in range(2000):
        kinds = random.sample(list(SubgroupKind), random.randint(0, 2))
        dims = [2] * (1 + len(kinds))
        devices = random.sample(range(2 ** len(dims)), 2 ** len(dims))
        first = HloSharding.tiled(TileAssignment.listed(dims, devices), kinds)
        changed = nearly(random, devices)
        second = HloSharding.tiled(TileAssignment.listed(dims, changed), kinds)
        same = held(first) == held(second)
        assert first.is_equivalent(second) is same, f"{first} and {second}"
        found[same] += 1
    assert min(found.values()) > 200


def nearly(random: Random, devices: list[int]) -> list[int]:
    """Return `devices` with two of them exchanged, or twice two."""
    changed = list(devices)
    for _ in range(random.choice([1, 2])):
        i, j = random.sample(range(len(devices)), 2)
        changed[i], changed[j] = changed[j], changed[i]
    return changed


def test_tiles_have_devices_and_offsets() -> None:
    tiled = parse("{devices=[2,2,2]<=[2,2,2]T(1,0,2) last_tile_dim_replicate}")
    assert tiled.tile_devices().tolist() == [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]
    assert tiled.tile_offsets((5, 4)).tolist() == [[[0, 0], [0, 2]], [[3, 0], [3, 2]]]
    assert tiled.local_shape((5, 4)) == (3, 2)
    assert [tiled.shard_offset((5, 4), device) for device in range(8)] == [
        (0, 0), (0, 0), (3, 0), (3, 0), (0, 2), (0, 2), (3, 2), (3, 2),
    ]  # fmt: skip


def test_a_tile_beyond_the_end_starts_at_the_end() -> None:
    tiled = parse("{devices=[4]<=[4]}")
    assert tiled.tile_offsets((5,)).tolist() == [[0], [2], [4], [5]]
    assert [s[0] for s in tiled.device_slices((5,)).values()] == [
        slice(0, 2), slice(2, 4), slice(4, 5), slice(5, 5),
    ]  # fmt: skip


def test_names_do_not_change_where_shards_are() -> None:
    named = parse("{mesh['x'=2,'y'=2], [{'y'}, {'x'}]}")
    tiled = parse("{devices=[2,2]<=[2,2]T(1,0)}")
    assert named.num_devices == 4
    assert named.local_shape((4, 4)) == tiled.local_shape((4, 4))
    assert named.device_slices((4, 4)) == tiled.device_slices((4, 4))
    assert named.tile_devices().tolist() == tiled.tile_devices().tolist()
    assert named.tile_offsets((4, 4)).tolist() == tiled.tile_offsets((4, 4)).tolist()
