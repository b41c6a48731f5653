"""What a user asks of a sharding."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdy.dialect.axes import AxisRef
from sdy.dialect.errors import Error, VerifyError
from sdy.dialect.mesh import Mesh
from sdy.dialect.parser import parse_mesh, parse_sharding
from sdy.dialect.sharding import DimensionSharding, TensorSharding
from tests.unit.dialect.strategies import shardings

MESH = Mesh({"x": 2, "y": 4}, name="m")


def parsed(body: str, mesh: Mesh = MESH) -> TensorSharding:
    return parse_sharding(f"<@{mesh.name}, {body}>", mesh)


def slices_by_hand(
    sharding: TensorSharding, shape: tuple[int, ...]
) -> dict[int, tuple[slice, ...]]:
    """Walk the places of the mesh one by one, as the reference defines axes and sub-axes."""
    mesh = sharding.bound_mesh
    places = itertools.product(*(range(size) for size in mesh.shape))
    devices = mesh.devices().ravel().tolist()
    result = {}
    for device, place in zip(devices, places, strict=True):
        parts = []
        for size, dimension in zip(shape, sharding.dimensions, strict=True):
            tile, tiles = 0, 1
            for axis in dimension.axes:
                coordinate = place[mesh.axis_index(axis.name)]
                post_size = mesh.axis_size(axis.name) // axis.next_pre_size(mesh)
                tile = tile * axis.size(mesh) + coordinate // post_size % axis.size(mesh)
                tiles *= axis.size(mesh)
            local = math.ceil(size / tiles)
            parts.append(slice(min(tile * local, size), min((tile + 1) * local, size)))
        result[device] = tuple(parts)
    return result


@given(shardings(), st.data())
def test_slices_of_devices_are_those_of_plain_enumeration(
    sharding: TensorSharding, data: st.DataObject
) -> None:
    if sharding.bound_mesh.is_maximal:
        return
    shape = tuple(data.draw(st.integers(0, 9)) for _ in range(sharding.rank))
    assert sharding.device_slices(shape) == slices_by_hand(sharding, shape)
    largest = sharding.local_shape(shape)
    for slices in sharding.device_slices(shape).values():
        assert all(s.stop - s.start <= size for s, size in zip(slices, largest, strict=True))


@given(shardings(), st.data())
def test_the_canonical_form_is_valid_and_means_the_same(
    sharding: TensorSharding, data: st.DataObject
) -> None:
    shape = tuple(data.draw(st.integers(1, 9)) for _ in range(sharding.rank))
    canonical = sharding.canonical()
    canonical.verify(shape=shape)
    assert canonical.canonical() == canonical
    assert canonical.is_equivalent(sharding, shape)


def test_canonical_form() -> None:
    mesh = Mesh({"one": 1, "x": 8, "y": 2}, name="m")
    wordy = TensorSharding(
        mesh,
        TensorSharding.fully_open(mesh, 1).dimensions,
        replicated=(AxisRef("y"), AxisRef.sub("x", 4, 2), AxisRef.sub("x", 1, 4), AxisRef("one")),
    )
    assert str(wordy.canonical()) == 'sharding<@m, [{?}], replicated={"x", "y"}>'


def test_local_shape_where_a_dimension_is_not_divisible() -> None:
    sharding = parsed('[{"y"}, {"x"}]')
    assert sharding.local_shape((5, 3)) == (2, 2)
    assert sharding.local_shape((0, 1)) == (0, 1)
    rows = [slices[0] for slices in sharding.device_slices((5, 3)).values()]
    assert rows[:4] == [slice(0, 2), slice(2, 4), slice(4, 5), slice(5, 5)]
    with pytest.raises(VerifyError, match=r"sharding doesn't match tensor rank: 2 != 1"):
        sharding.local_shape((5,))


def test_device_ids_say_which_device_holds_a_slice() -> None:
    mesh = Mesh({"x": 2, "y": 2}, [3, 2, 1, 0], name="m")
    assert parsed('[{"x"}]', mesh).device_slices((4,)) == {
        3: (slice(0, 2),),
        2: (slice(0, 2),),
        1: (slice(2, 4),),
        0: (slice(2, 4),),
    }


def test_a_maximal_sharding_keeps_all_on_one_device() -> None:
    sharding = TensorSharding(Mesh.maximal(3))
    sharding.verify(shape=(4, 8))
    assert sharding.local_shape((4, 8)) == (4, 8)
    assert sharding.device_slices((4, 8)) == {3: (slice(0, 4), slice(0, 8))}


def test_equivalence_across_meshes() -> None:
    full = parse_mesh('@full = <["devices"=8]>')
    split = parsed('[{"x"}, {"y"}]')
    whole = parsed('[{"devices":(1)2}, {"devices":(2)4, ?}p1], replicated={}'[:-15], full)
    assert split.is_equivalent(whole, (4, 8))
    assert whole.is_equivalent(split, (4, 8))
    swapped = parsed('[{"devices":(4)2}, {"devices":(1)4}]', full)
    assert not split.is_equivalent(swapped, (4, 8))
    reordered = Mesh({"y": 4, "x": 2}, [0, 4, 1, 5, 2, 6, 3, 7], name="m")
    assert split.is_equivalent(parsed('[{"x"}, {"y"}]', reordered), (4, 8))
    assert not split.is_equivalent(
        parsed('[{"x"}, {"y"}]', Mesh({"y": 4, "x": 2}, name="m")), (4, 8)
    )


def test_equivalence_asks_for_the_same_unreduced_axes_and_ignores_the_rest() -> None:
    plain = parsed('[{"x"}]')
    assert plain.is_equivalent(parsed('[{"x", ?}p2], replicated={"y"}'), (4,))
    unreduced = parsed('[{"x"}], unreduced={"y"}')
    assert not plain.is_equivalent(unreduced, (4,))
    assert unreduced.is_equivalent(parsed('[{"x"}], unreduced={"y"}'), (4,))


def test_a_dimension_of_size_one_hides_how_it_is_split_only_where_shards_agree() -> None:
    assert not parsed('[{"x"}]').is_equivalent(parsed("[{}]"), (1,))
    assert parsed('[{"x"}]').is_equivalent(parsed("[{}]"), (0,))


def test_splitting_alike_is_about_the_axes_of_dimensions_on_one_mesh() -> None:
    split = parsed('[{"x"}]')
    assert split.splits_alike(parsed('[{"x", ?}p1], replicated={"y"}'))
    assert not split.splits_alike(parsed('[{"y"}]'))
    assert not split.splits_alike(parsed('[{"x"}]', Mesh({"x": 2}, name="other")))
    assert not split.splits_alike(None)
    whole = parsed("[{}]")
    assert whole.splits_alike(None)
    assert whole.splits_alike(parsed("[{?}]", Mesh({"x": 2}, name="other")))
    assert not whole.splits_alike(split)


def test_opening_and_closing() -> None:
    sharding = parsed('[{"x", ?}p1, {}], replicated={"y"}')
    assert str(sharding.closed()) == 'sharding<@m, [{"x"}p1, {}]>'
    assert str(sharding.opened()) == 'sharding<@m, [{"x", ?}p1, {?}], replicated={"y"}>'
    dimension = sharding.dimensions[0]
    assert (dimension.priority_or_default, dimension.without_priority().priority) == (1, None)
    assert sharding.dimensions[1].priority_or_default == 0
    assert dimension.sharded_size(MESH) == 2


def test_asking_for_a_mesh_that_is_only_a_name() -> None:
    sharding = parse_sharding('<@nowhere, [{"x"}]>')
    for ask in (sharding.canonical, sharding.verify, lambda: sharding.local_shape((4,))):
        with pytest.raises(
            VerifyError, match=r"^no mesh is bound to the name @nowhere: .*bind\(mesh\)"
        ):
            ask()
    assert sharding.bind(MESH).local_shape((4,)) == (2,)


def test_100_000_devices() -> None:
    mesh = Mesh({"x": 100, "y": 1000}, name="m")
    sharding = parsed('[{"y":(1)500}, {"x"}]', mesh)
    assert sharding.local_shape((1000, 1000)) == (2, 10)
    assert sharding.is_equivalent(sharding.canonical(), (1000, 1000))


@pytest.mark.parametrize(
    ("mesh", "message"),
    [
        (Mesh({"x": 0}, name="m"), "axis size must be at least 1, got: 0"),
        (Mesh({"x": -2}, name="m"), "axis size must be at least 1, got: -2"),
        (Mesh({"x": 2}, [0, 0], name="m"), "sorted device ids must be iota"),
        (Mesh({"x": 2}, [5], name="m"), "must match total number of device ids"),
    ],
)
def test_an_invalid_mesh_is_refused_wherever_it_is_used(mesh: Mesh, message: str) -> None:
    unbound = parse_sharding('<@m, [{"x"}]>')
    bound = unbound.bind(mesh)
    for use in (
        lambda: parse_sharding('<@m, [{"x"}]>', mesh),
        lambda: unbound.verify(mesh, (4,)),
        bound.canonical,
        lambda: bound.local_shape((4,)),
        lambda: bound.device_slices((4,)),
        lambda: bound.is_equivalent(bound, (4,)),
    ):
        with pytest.raises(VerifyError, match=message):
            use()


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((-4, 8), "dimension size must be between 0 and 2.63-1, got: -4"),
        ((2**63, 8), "dimension size must be between 0 and 2.63-1"),
        ((3.0, 4), r"shape: expected the size of each dimension, got \(3.0, 4\)"),
        (4, "shape: expected the size of each dimension, got 4"),
        (None, "shape: expected the size of each dimension, got None"),
    ],
)
def test_what_is_no_shape(shape: Any, message: str) -> None:
    sharding = parsed('[{"x"}, {"y"}]')
    for use in (sharding.local_shape, sharding.device_slices):
        with pytest.raises(Error, match=message):
            use(shape)
    if shape is not None:
        with pytest.raises(Error, match=message):
            sharding.verify(MESH, shape)


def test_meshes_with_more_axes_than_an_array_can_have() -> None:
    wide = Mesh({f"a{i}": 1 for i in range(70)} | {"x": 2}, name="wide")
    sharding = parsed('[{"a3", "x"}]', wide)
    assert sharding.device_slices((4,)) == {0: (slice(0, 2),), 1: (slice(2, 4),)}
    assert sharding.is_equivalent(parsed('[{"x"}]', wide), (4,))


def test_meshes_with_more_devices_than_can_be_listed() -> None:
    sharding = parsed('[{"x"}]', Mesh({"x": 2**40}, name="large"))
    assert sharding.local_shape((2**41,)) == (2,)
    with pytest.raises(VerifyError, match="too large to list"):
        sharding.device_slices((4,))


def test_parts_of_other_types() -> None:
    sharding: Any = TensorSharding
    axis: Any = AxisRef
    dimension: Any = DimensionSharding
    nothing: Any = None
    uses: list[tuple[Callable[[], object], str]] = [
        (
            lambda: sharding(MESH, ("x",)).verify(),
            "dimensions: expected DimensionSharding values, got str",
        ),
        (
            lambda: sharding(MESH, (dimension(("x",)),)).verify(),
            "axes: expected AxisRef values, got str",
        ),
        (
            lambda: sharding(MESH, (dimension((axis(3),)),)).verify(),
            "axis name: expected a str, got int",
        ),
        (
            lambda: sharding(MESH, (dimension((axis("x", (1, 2)),)),)).verify(),
            "sub-axis: expected a SubAxis or None, got tuple",
        ),
        (lambda: str(axis(nothing)), "expected a name, got NoneType"),
        (
            lambda: parsed('[{"x"}]').is_equivalent(nothing, (4,)),
            "other: expected a TensorSharding, got NoneType",
        ),
        (lambda: parsed('[{"x"}]').bind(nothing), "mesh: expected a Mesh, got NoneType"),
    ]
    for use, message in uses:
        # The second is what compiled classes say, where they are made or called.
        with pytest.raises(TypeError, match=f"{message}|object expected; got"):
            use()


def test_a_sub_axis_that_is_none() -> None:
    for axis in (AxisRef.sub("x", 1, 0), AxisRef.sub("x", 1, 3)):
        sharding = TensorSharding(MESH, (DimensionSharding((axis,)),))
        with pytest.raises(VerifyError):
            sharding.device_slices((4,))
