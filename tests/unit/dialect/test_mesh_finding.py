"""Meshes found for shardings without names, and the same data on every device afterwards."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest

from sdy.dialect import placement
from sdy.dialect.axes import AxisRef
from sdy.dialect.errors import VerifyError
from sdy.dialect.hlo_sharding import HloSharding, SubgroupKind
from sdy.dialect.mesh import Mesh
from sdy.dialect.mesh_finding import FoundMeshes, find_meshes
from sdy.dialect.sharding import DimensionSharding, TensorSharding
from sdy.dialect.tile_assignment import TileAssignment


def find(*texts: str) -> tuple[FoundMeshes, list[str]]:
    """Return the meshes for matrices with these shardings, and the shardings on them."""
    shardings = list(map(HloSharding.parse, texts))
    found = find_meshes(shardings)
    return found, [found.named(sharding, 2).sharding.body for sharding in shardings]


def bodies(found: FoundMeshes) -> list[str]:
    return [str(mesh) for mesh in found.meshes]


def test_axes_are_common_factors_of_the_tilings() -> None:
    found, named = find(
        "{devices=[2,4]<=[8]}",
        "{devices=[4,2]<=[2,4]T(1,0)}",
        "{devices=[4,1,2]<=[8] last_tile_dim_replicate}",
        "{replicated}",
    )
    assert bodies(found) == ['@mesh = <["_axis_0"=2, "_axis_1"=2, "_axis_2"=2]>']
    assert named == [
        '@mesh, [{"_axis_0"}, {"_axis_1", "_axis_2"}]',
        '@mesh, [{"_axis_1", "_axis_2"}, {"_axis_0"}]',
        '@mesh, [{"_axis_0", "_axis_1"}, {}]',
        "@mesh, [{}, {}]",
    ]


def test_a_list_that_counts_is_counted() -> None:
    found, named = find("{devices=[2,2]0,2,1,3}")
    assert bodies(found) == ['@mesh = <["_axis_0"=2, "_axis_1"=2]>']
    assert named == ['@mesh, [{"_axis_1"}, {"_axis_0"}]']


def test_a_list_that_does_not_count_is_the_meshs_own() -> None:
    found, named = find(
        "{devices=[2,1,2]1,3,0,2 last_tile_dim_replicate}",
        "{devices=[2,2]3,2,1,0}",
        "{devices=[2,2]3,1,2,0}",
    )
    assert len(found.meshes) == 1
    assert found.main.device_ids == (3, 2, 1, 0)
    assert named == [
        '@mesh, [{"_axis_1"}, {}]',
        '@mesh, [{"_axis_0"}, {"_axis_1"}]',
        '@mesh, [{"_axis_1"}, {"_axis_0"}]',
    ]


def test_replicas_are_put_in_order_by_what_other_shardings_say_of_them() -> None:
    found, named = find(
        "{devices=[2,1,2]1,3,0,2 last_tile_dim_replicate}",
        "{devices=[1,2,2]2,3,0,1 last_tile_dim_replicate}",
    )
    assert bodies(found) == ['@mesh = <["_axis_0"=2, "_axis_1"=2], device_ids=[3, 1, 2, 0]>']
    assert named == ['@mesh, [{"_axis_0"}, {}]', '@mesh, [{}, {"_axis_1"}]']


def test_tilings_without_common_factors_have_meshes_of_their_own() -> None:
    found, named = find(
        "{devices=[2,3]<=[6]}",
        "{devices=[3,2]<=[6]}",
        "{devices=[2,3]<=[2,3]T(1,0)}",
        "{devices=[2,3]<=[3,2]T(1,0)}",
    )
    assert bodies(found) == [
        '@mesh = <["_axis_0"=2, "_axis_1"=3]>',
        '@mesh_1 = <["_axis_0"=3, "_axis_1"=2]>',
        '@mesh_2 = <["_axis_0"=2, "_axis_1"=3], device_ids=[0, 3, 1, 4, 2, 5]>',
    ]
    assert named == [
        '@mesh, [{"_axis_0"}, {"_axis_1"}]',
        '@mesh_1, [{"_axis_0"}, {"_axis_1"}]',
        '@mesh_2, [{"_axis_0"}, {"_axis_1"}]',
        '@mesh_1, [{"_axis_1"}, {"_axis_0"}]',
    ]


def test_whole_tensors_are_on_the_main_mesh_and_single_devices_on_their_own() -> None:
    found, named = find(
        "{devices=[2,2]<=[4]}",
        "{maximal device=3}",
        "{unreduced}",
        "{unknown}",
        "{devices=[2,1,2]<=[4] last_tile_dims={unreduced}}",
    )
    assert bodies(found) == [
        '@mesh = <["_axis_0"=2, "_axis_1"=2]>',
        "@maximal_mesh_3 = <[], device_ids=[3]>",
    ]
    assert named[1:] == [
        "@maximal_mesh_3, []",
        '@mesh, [{}, {}], unreduced={"_axis_0", "_axis_1"}',
        "@mesh, [{?}, {?}]",
        '@mesh, [{"_axis_0"}, {}], unreduced={"_axis_1"}',
    ]


def test_manual_subgroups_are_manual_axes() -> None:
    shardings = [
        HloSharding.parse("{devices=[2,1,2]<=[4] last_tile_dims={manual}}"),
        HloSharding.manual(),
    ]
    found = find_meshes(shardings)
    assert found.named(shardings[0], 2).manual == (AxisRef("_axis_1"),)
    assert found.named(shardings[1], 2).manual == (AxisRef("_axis_0"), AxisRef("_axis_1"))
    with pytest.raises(VerifyError, match=r"\{manual\} takes a mesh with axes"):
        find_meshes([HloSharding.manual()]).named(HloSharding.manual(), 2)
    alone = find_meshes([HloSharding.manual()], num_devices=4)
    assert alone.named(HloSharding.manual(), 1).manual == (AxisRef("_axis_0"),)


def test_meshes_that_are_known_keep_their_names_and_are_used_in_parts() -> None:
    data = Mesh({"data": 4, "model": 2}, name="world")
    tiled = HloSharding.parse("{devices=[2,4]<=[8]}")
    found = find_meshes([tiled], known=[data])
    assert found.meshes == (data,)
    assert found.named(tiled, 2).sharding.body == (
        '@world, [{"data":(1)2}, {"data":(2)2, "model"}]'
    )


def test_meshes_with_names_are_used_first() -> None:
    found, named = find(
        "{mesh['x'=2,'y'=4], [{'x'}, {?}], replicated={'y'}}", "{devices=[4,2]<=[8]}"
    )
    assert bodies(found) == ['@mesh = <["x"=2, "y"=4]>']
    assert named == [
        '@mesh, [{"x"}, {?}], replicated={"y"}',
        '@mesh, [{"x", "y":(1)2}, {"y":(2)2}]',
    ]


def test_dimensions_that_are_not_specified_are_open() -> None:
    tiled = HloSharding.parse("{devices=[2,4]<=[8]}")
    found = find_meshes([tiled])
    assert found.named(tiled, 2, unspecified=[1]).sharding.body == (
        '@mesh, [{"_axis_0"}, {"_axis_1", ?}]'
    )
    assert found.named(HloSharding.replicated(), 2, unspecified=[0]).sharding.body == (
        "@mesh, [{?}, {}]"
    )


def test_what_no_mesh_can_say_is_refused() -> None:
    found = find_meshes([HloSharding.parse("{devices=[2,4]<=[8]}")])
    with pytest.raises(VerifyError, match=r"for tensors of rank 2, not 3"):
        found.named(HloSharding.parse("{devices=[2,4]<=[8]}"), 3)
    with pytest.raises(VerifyError, match=r"no mesh has what \{devices=\[3\]<=\[3\]\} takes"):
        found.named(HloSharding.parse("{devices=[3]<=[3]}"), 1)
    with pytest.raises(VerifyError, match=r"is not on devices 0, 1, 2"):
        find_meshes([HloSharding.parse("{devices=[2]4,5}")])


# ---- Properties


def random_tiled(random: Random, total: int, rank: int) -> HloSharding:
    kinds = random.sample(list(SubgroupKind), random.randint(0, 2))
    dims = split(random, total, rank + len(kinds))
    reshape = split(random, total, random.randint(1, 4))
    order = random.sample(range(len(reshape)), len(reshape))
    tiles = TileAssignment.iota(dims, reshape, order)
    if random.random() < 0.2:
        tiles = TileAssignment.listed(dims, random.sample(range(total), total))
    return HloSharding.tiled(tiles, kinds)


def split(random: Random, number: int, parts: int) -> list[int]:
    sizes = [1] * parts
    rest = number
    for prime in (2, 3, 5, 7):
        while rest % prime == 0:
            rest //= prime
            sizes[random.randrange(parts)] *= prime
    return sizes


def assert_same_data(sharding: TensorSharding, expected: HloSharding, rank: int) -> None:
    """Check by numpy that every device holds the same tile."""
    devices, tiles = placement.tile_indices(sharding)
    expected_devices, expected_tiles = expected.tile_indices(rank, len(devices))
    order, expected_order = np.argsort(devices), np.argsort(expected_devices)
    assert np.array_equal(devices[order], expected_devices[expected_order])
    assert np.array_equal(tiles[order], expected_tiles[expected_order])


@pytest.mark.parametrize("total", [4, 6, 8, 12, 24])
def test_every_device_holds_the_same_data(total: int) -> None:
    random = Random(total)
    for _ in range(60):
        rank = random.randint(1, 3)
        shardings = [random_tiled(random, total, rank) for _ in range(random.randint(1, 6))]
        found = find_meshes(shardings, num_devices=total)
        for sharding in shardings:
            named = found.named(sharding, rank)
            named.verify()
            assert_same_data(named.sharding, sharding, rank)
            back = HloSharding.from_sharding(named.sharding, named.manual)
            assert back.is_equivalent(sharding), f"{sharding} became {back}"


def random_mesh_sharding(random: Random, mesh: Mesh, rank: int) -> TensorSharding:
    dims: list[list[AxisRef]] = [[] for _ in range(rank)]
    for name in random.sample(mesh.axis_names, len(mesh.axes)):
        random.choice([*dims, []]).append(AxisRef(name))
    return TensorSharding(mesh, tuple(DimensionSharding(tuple(axes)) for axes in dims))


def test_shardings_of_one_mesh_are_found_on_one_mesh() -> None:
    random = Random(0)
    for _ in range(200):
        sizes = random.choices([2, 3, 4], k=random.randint(1, 3))
        mesh = Mesh({f"a{i}": size for i, size in enumerate(sizes)})
        originals = [random_mesh_sharding(random, mesh, 2) for _ in range(4)]
        shardings = list(map(HloSharding.from_sharding, originals))
        found = find_meshes(shardings, num_devices=mesh.size)
        assert len(found.meshes) == 1
        assert not found.main.device_ids
        for sharding, original in zip(shardings, originals, strict=True):
            assert found.named(sharding, 2).sharding.is_equivalent(original, (48, 48))


def test_shardings_of_a_mesh_that_lists_its_devices_are_found_on_one_mesh() -> None:
    random = Random(1)
    for _ in range(100):
        sizes = random.choices([2, 3, 4], k=random.randint(2, 3))
        axes = {f"a{i}": size for i, size in enumerate(sizes)}
        total = math.prod(sizes)
        mesh = Mesh(axes, random.sample(range(total), total))
        every_axis = TensorSharding(
            mesh,
            (
                DimensionSharding((AxisRef("a0"),)),
                DimensionSharding(tuple(map(AxisRef, mesh.axis_names[1:]))),
            ),
        )
        originals = [every_axis, *(random_mesh_sharding(random, mesh, 2) for _ in range(3))]
        shardings = list(map(HloSharding.from_sharding, originals))
        found = find_meshes(random.sample(shardings, len(shardings)))
        assert len(found.meshes) == 1
        for sharding, original in zip(shardings, originals, strict=True):
            assert found.named(sharding, 2).sharding.is_equivalent(original, (48, 48))
