"""What XLA's shardings say, how they print, and what a `TensorSharding` is among them."""

from __future__ import annotations

import time

import pytest

from sdy.dialect.axes import AxisRef
from sdy.dialect.errors import Error, VerifyError
from sdy.dialect.hlo_sharding import HloSharding, HloShardingKind
from sdy.dialect.mesh import Mesh
from sdy.dialect.sharding import DimensionSharding, TensorSharding

MESH = Mesh({"x": 2, "y": 4}, name="mesh")


def sharding(
    *dimensions: list[AxisRef | str],
    mesh: Mesh = MESH,
    replicated: tuple[AxisRef, ...] = (),
    unreduced: tuple[AxisRef, ...] = (),
) -> TensorSharding:
    axes = [
        tuple(AxisRef(axis) if isinstance(axis, str) else axis for axis in dimension)
        for dimension in dimensions
    ]
    return TensorSharding(mesh, tuple(map(DimensionSharding, axes)), replicated, unreduced)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (sharding(["x"], ["y"]), "{devices=[2,4]<=[8]}"),
        (sharding(["y"], ["x"]), "{devices=[4,2]<=[2,4]T(1,0)}"),
        (sharding(["y", "x"], []), "{devices=[8,1]<=[2,4]T(1,0)}"),
        (sharding(["x"], []), "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"),
        (sharding([], ["y"]), "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"),
        (sharding([], []), "{replicated}"),
        (sharding(), "{replicated}"),
        (
            sharding([AxisRef.sub("y", 2, 2)], [], replicated=(AxisRef("x"),)),
            "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}",
        ),
        (
            sharding([AxisRef.sub("y", 1, 2)], [AxisRef.sub("y", 2, 2)]),
            "{devices=[2,2,2]<=[2,4]T(1,0) last_tile_dim_replicate}",
        ),
        (
            sharding(["x"], unreduced=(AxisRef("y"),)),
            "{devices=[2,4]<=[8] last_tile_dims={unreduced}}",
        ),
        (
            sharding(["x"], unreduced=(AxisRef.sub("y", 2, 2),)),
            "{devices=[2,2,2]<=[2,2,2]T(0,2,1) last_tile_dims={unreduced, replicated}}",
        ),
        (sharding([], unreduced=(AxisRef("x"), AxisRef("y"))), "{unreduced}"),
    ],
)
def test_a_sharding_on_a_mesh_counts_its_devices(value: TensorSharding, text: str) -> None:
    assert str(HloSharding.from_sharding(value)) == text


def test_a_mesh_that_lists_its_devices_is_listed() -> None:
    mesh = Mesh({"x": 2, "y": 2}, device_ids=[3, 1, 2, 0], name="mesh")
    assert str(HloSharding.from_sharding(sharding(["y"], ["x"], mesh=mesh))) == (
        "{devices=[2,2]3,2,1,0}"
    )


def test_replicas_of_a_tile_ascend() -> None:
    mesh = Mesh({"x": 2, "y": 2}, device_ids=[3, 1, 2, 0], name="mesh")
    assert str(HloSharding.from_sharding(sharding(["x"], mesh=mesh))) == (
        "{devices=[2,2]1,3,0,2 last_tile_dim_replicate}"
    )


def test_a_maximal_mesh_is_one_device() -> None:
    on_five = TensorSharding(Mesh.maximal(5, name="mesh"))
    assert HloSharding.from_sharding(on_five) == HloSharding.maximal(5)


def test_a_mesh_without_axes_is_replicated() -> None:
    empty = TensorSharding(Mesh(name="mesh"), (DimensionSharding(),))
    assert HloSharding.from_sharding(empty) == HloSharding.replicated()


def test_open_dimensions_have_no_image() -> None:
    opened = TensorSharding(MESH, (DimensionSharding((AxisRef("x"),), is_closed=False),))
    assert HloSharding.from_sharding(opened) == HloSharding.from_sharding(opened.closed())


def test_manual_axes_are_a_subgroup_of_their_own() -> None:
    within = HloSharding.from_sharding(sharding(["y"], []), manual_axes=["x"])
    assert str(within) == "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dims={manual}}"
    everywhere = HloSharding.from_sharding(sharding([], []), manual_axes=["x", "y"])
    assert everywhere == HloSharding.manual()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (sharding(["x"], ["x"]), 'axes overlap: "x"'),
        (sharding(["z"]), 'unknown axis name: "z"'),
        (sharding([AxisRef.sub("y", 1, 3)]), 'axis "y" of size 4 cannot be split'),
        (sharding([AxisRef.sub("y", 4, 2)]), 'axis "y" of size 4 cannot be split'),
    ],
)
def test_axes_that_do_not_fit_the_mesh_are_refused(value: TensorSharding, message: str) -> None:
    with pytest.raises(VerifyError, match=message):
        HloSharding.from_sharding(value)


def test_a_hundred_thousand_devices_cost_what_eight_do() -> None:
    def cpu_seconds(value: TensorSharding) -> float:
        start = time.process_time()
        for _ in range(100):
            HloSharding.from_sharding(value)
        return time.process_time() - start

    small = sharding(["y"], ["x"], mesh=Mesh({"x": 2, "y": 4}, name="mesh"))
    large = sharding(["y"], ["x"], mesh=Mesh({"x": 100, "y": 1000}, name="mesh"))
    least = min(cpu_seconds(small) for _ in range(5))
    assert min(cpu_seconds(large) for _ in range(5)) < 10 * least
    converted = HloSharding.from_sharding(large)
    assert str(converted) == "{devices=[1000,100]<=[100,1000]T(1,0)}"


@pytest.mark.parametrize(
    "text",
    [
        "{replicated}",
        "{manual}",
        "{unreduced}",
        "{unknown}",
        "{maximal device=3}",
        "{devices=[2,4]<=[8]}",
        "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}",
        "{devices=[2,2]3,1,2,0}",
        "{devices=[2,2]0,3,1,2 last_tile_dim_replicate}",
        "{devices=[2,2,2]<=[8] last_tile_dims={manual, replicated}}",
        "{}",
        "{{replicated}, {devices=[8]<=[8]}}",
        "{{manual}, {manual}, {manual}, {manual}, {manual}, /*index=5*/{replicated}}",
    ],
)
def test_printing_and_parsing_are_inverse(text: str) -> None:
    assert str(HloSharding.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("{devices=[4]<=[2,2]T(0,1)}", "{devices=[4]<=[4]}"),
        ("{devices=[8]<=[4,1,2]T(2,1,0)}", "{devices=[8]<=[4,2]T(1,0)}"),
        ("{devices=[2,1]<=[2] last_tile_dims={replicated}}", "{devices=[2]<=[2]}"),
        ("{devices=[1,4]<=[4] last_tile_dim_replicate}", "{replicated}"),
        ("{devices=[1,1,4]<=[4] last_tile_dims={replicated, manual}}", "{manual}"),
        (
            "{devices=[2,2,2]<=[8] last_tile_dims={replicated, manual}}",
            "{devices=[2,2,2]<=[2,2,2]T(0,2,1) last_tile_dims={manual, replicated}}",
        ),
        (
            "{devices=[2,2,2]<=[8] last_tile_dims={manual, manual}}",
            "{devices=[2,4]<=[8] last_tile_dims={manual}}",
        ),
        (
            "{devices=[2,2]1,0,3,2 last_tile_dim_replicate}",
            "{devices=[2,2]0,1,2,3 last_tile_dim_replicate}",
        ),
        (
            "{devices=[2,4]<=[2,2,2]T(1,2,0) last_tile_dim_replicate}",
            "{devices=[2,4]<=[2,2,2]T(1,0,2) last_tile_dim_replicate}",
        ),
    ],
)
def test_every_sharding_has_one_form(text: str, canonical: str) -> None:
    assert str(HloSharding.parse(text)) == canonical


def test_a_tile_may_be_smaller_at_the_end() -> None:
    uneven = HloSharding.parse("{devices=[2,1,2]<=[4] last_tile_dim_replicate}")
    assert uneven.local_shape((5, 3)) == (3, 3)
    assert uneven.device_slices((5, 3)) == {
        0: (slice(0, 3), slice(0, 3)),
        1: (slice(0, 3), slice(0, 3)),
        2: (slice(3, 5), slice(0, 3)),
        3: (slice(3, 5), slice(0, 3)),
    }


def test_devices_hold_the_tiles_that_the_transposed_iota_gives_them() -> None:
    transposed = HloSharding.parse("{devices=[2,2]<=[2,2]T(1,0)}")
    assert transposed.device_slices((4, 2)) == {
        0: (slice(0, 2), slice(0, 1)),
        1: (slice(2, 4), slice(0, 1)),
        2: (slice(0, 2), slice(1, 2)),
        3: (slice(2, 4), slice(1, 2)),
    }


def test_a_replicated_tensor_is_on_as_many_devices_as_there_are() -> None:
    with pytest.raises(Error, match=r"fits any number of devices"):
        HloSharding.replicated().device_slices((4,))
    assert HloSharding.replicated().device_slices((4,), num_devices=2) == {
        0: (slice(0, 4),),
        1: (slice(0, 4),),
    }
    assert HloSharding.maximal(7).device_slices((4,)) == {7: (slice(0, 4),)}


def test_a_sharding_is_for_tensors_of_one_rank() -> None:
    with pytest.raises(VerifyError, match=r"for tensors of rank 2, not 1"):
        HloSharding.parse("{devices=[2,4]<=[8]}").local_shape((8,))
    with pytest.raises(VerifyError, match=r"sharding of a tuple"):
        HloSharding.parse("{{replicated}}").local_shape((8,))


def test_shardings_are_values() -> None:
    first = HloSharding.parse("{devices=[2,4]<=[8]}")
    assert first == HloSharding.parse("{ devices=[2,4] <= [8] }")
    assert len({first, HloSharding.parse("{devices=[2,4]<=[8]}")}) == 1
    assert first.kind is HloShardingKind.TILED
    assert first.num_devices == 8
    assert HloSharding.replicated().num_devices is None
