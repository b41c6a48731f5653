"""Plans of reshards: they do what they say, device by device, and move no more than they must."""

from __future__ import annotations

import math
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pytest

from sdy.dialect.axes import AxisRef
from sdy.dialect.errors import VerifyError
from sdy.dialect.mesh import Mesh
from sdy.dialect.sharding import DimensionSharding, TensorSharding
from sdy.passes.export_pipeline.reshard_plan import ReshardPlan, plan_reshard
from sdy.passes.export_pipeline.reshard_steps import (
    AllGather,
    AllSlice,
    AllToAll,
    CollectivePermute,
    ReshardStep,
)
from tests.corpus.reshard_pairs import EVEN_MESHES, ODD_MESHES, random_pair

if TYPE_CHECKING:
    from numpy.typing import NDArray

Data: TypeAlias = "NDArray[np.int64]"

MESH = Mesh({"x": 2, "y": 2, "z": 4}, name="mesh")
OTHER_ORDER = Mesh({"x": 2, "y": 2, "z": 4}, range(15, -1, -1), name="other_order")


def sharding(*dimensions: str, mesh: Mesh = MESH) -> TensorSharding:
    """Return the sharding whose dimensions have axes of one letter each."""
    return TensorSharding(
        mesh, tuple(DimensionSharding(tuple(map(AxisRef, axes))) for axes in dimensions)
    )


def steps(plan: ReshardPlan) -> list[str]:
    return [str(step) for step in plan.steps]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (("x", ""), ("x", ""), []),
        (("", ""), ("x", ""), ['all_slice [{"x"}, {}]']),
        (("xy", ""), ("x", ""), ['all_gather [{"y"}, {}]']),
        (("x", ""), ("", "x"), ['all_to_all [{"x"}: 0->1]']),
        (("x", ""), ("y", ""), ['collective_permute to [{"y"}, {}]']),
        (("xy", ""), ("yx", ""), ['collective_permute to [{"y", "x"}, {}]']),
        (("x", ""), ("", "xy"), ['all_slice [{"y"}, {}]', 'all_to_all [{"x", "y"}: 0->1]']),
        (
            ("z", "x"),
            ("x", ""),
            [
                'collective_permute to [{"x", "z":(2)2}, {"z":(1)2}]',
                'all_gather [{"z":(2)2}, {"z":(1)2}]',
            ],
        ),
    ],
)
def test_steps(before: tuple[str, ...], after: tuple[str, ...], expected: list[str]) -> None:
    assert steps(plan_reshard(sharding(*before), sharding(*after), (16, 16))) == expected


def test_bytes_of_each_step() -> None:
    plan = plan_reshard(sharding("x", "z"), sharding("", "x"), (16, 16), itemsize=2)
    assert steps(plan) == [
        'collective_permute to [{"z":(1)2}, {"x", "z":(2)2}]',
        'all_gather [{"z":(1)2}, {"z":(2)2}]',
    ]
    # 8 x 4 elements are exchanged; then 16 x 8 are there.
    assert [step.bytes for step in plan.steps] == [8 * 4 * 2, (16 * 8 - 8 * 4) * 2]
    assert plan.bytes == 256


def test_devices_in_another_order() -> None:
    plan = plan_reshard(sharding("x"), sharding("x", mesh=OTHER_ORDER), (16,))
    assert steps(plan) == ['collective_permute to [{"x"}]']
    assert plan.steps[0].sharding.mesh == OTHER_ORDER


@pytest.mark.parametrize(
    ("after", "message"),
    [
        (sharding("x", ""), "ranks differ: 1, 2 and 1"),
        (sharding("x", mesh=Mesh({"x": 2}, name="small")), "meshes have other axes"),
        (TensorSharding(MESH, (DimensionSharding(),), (), (AxisRef("x"),)), "unreduced axes"),
    ],
)
def test_shardings_that_do_not_fit(after: TensorSharding, message: str) -> None:
    with pytest.raises(VerifyError, match=message):
        plan_reshard(sharding("x"), after, (16,))


def test_a_plan_is_made_once() -> None:
    first = plan_reshard(sharding("x", "y"), sharding("y", "x"), (16, 16))
    assert plan_reshard(sharding("x", "y"), sharding("y", "x"), [16, 16]) is first


# A device may use what it holds and what its group holds, nothing else.


def group(
    step: AllSlice | AllGather | AllToAll, index: tuple[int, ...], mesh: Mesh
) -> tuple[int, ...]:
    """Return what the devices that communicate with the one at `index` have in common."""
    if isinstance(step, AllSlice):
        return index
    axes = step.axes if isinstance(step, AllToAll) else chain.from_iterable(step.axes)
    common = list(index)
    for axis in axes:
        at = mesh.axis_index(axis.name)
        post_size = mesh.axis_size(axis.name) // axis.next_pre_size(mesh)
        common[at] -= index[at] // post_size % axis.size(mesh) * post_size
    return tuple(common)


def apply(
    step: ReshardStep, before: TensorSharding, held: dict[int, Data], shape: tuple[int, ...]
) -> dict[int, Data]:
    """Return what every device holds after a step, from what it held before."""
    old, new = before.device_slices(shape), step.sharding.device_slices(shape)
    if isinstance(step, CollectivePermute):
        assert Counter(map(str, old.values())) == Counter(map(str, new.values()))
        by_slices = {str(slices): held[device] for device, slices in old.items()}
        return {device: by_slices[str(slices)] for device, slices in new.items()}
    groups: dict[tuple[int, ...], list[int]] = {}
    mesh = before.bound_mesh
    for index, device in np.ndenumerate(mesh.devices()):
        groups.setdefault(group(step, index, mesh), []).append(int(device))
    after: dict[int, Data] = {}
    for members in groups.values():
        whole = np.full(shape, -1, dtype=np.int64)
        for member in members:
            whole[old[member]] = held[member]
        for member in members:
            after[member] = whole[new[member]]
            assert after[member].min(initial=0) >= 0, "a part that nobody in the group has"
    return after


def padded(shape: tuple[int, ...], shardings: list[TensorSharding]) -> tuple[int, ...]:
    """Return the shape with every dimension a multiple of the parts into which it is split."""
    sizes = [[d.sharded_size(s.bound_mesh) for d in s.dimensions] for s in shardings]
    return tuple(
        -(-size // math.lcm(*parts)) * math.lcm(*parts)
        for size, parts in zip(shape, zip(*sizes, strict=True), strict=True)
    )


@pytest.mark.parametrize("meshes", [EVEN_MESHES, ODD_MESHES], ids=["powers of two", "others"])
def test_a_plan_turns_the_shards_of_one_into_those_of_the_other(meshes: tuple[Mesh, ...]) -> None:
    for seed in range(150):
        before, after, shape = random_pair(seed, meshes)
        shape = tuple(min(size, 24) for size in shape[:3])
        before, after = (TensorSharding(s.mesh, s.dimensions[:3]) for s in (before, after))
        plan = plan_reshard(before, after, shape)
        visited = [before, *(step.sharding for step in plan.steps)]
        for each in visited:
            each.verify()
        shape = padded(shape, visited)
        data = np.arange(math.prod(shape), dtype=np.int64).reshape(shape)
        held = {device: data[part] for device, part in before.device_slices(shape).items()}
        for old, step in zip(visited, plan.steps, strict=False):
            held = apply(step, old, held, shape)
        for device, part in after.device_slices(shape).items():
            np.testing.assert_array_equal(held[device], data[part], err_msg=str(plan))


@pytest.mark.parametrize("meshes", [EVEN_MESHES, ODD_MESHES], ids=["powers of two", "others"])
def test_a_plan_moves_no_more_than_gathering_everything(meshes: tuple[Mesh, ...]) -> None:
    for seed in range(1000):
        before, after, shape = random_pair(seed, meshes)
        shape = padded(shape, [before, after])
        plan = plan_reshard(before, after, shape, itemsize=1)
        gathered = math.prod(shape) - math.prod(before.local_shape(shape))
        if not before.is_fully_replicated:
            assert plan.bytes <= gathered, (before, after, shape, steps(plan))


def test_gathering_is_a_last_resort() -> None:
    plans = [plan_reshard(*random_pair(seed, EVEN_MESHES)) for seed in range(300)]
    kinds = Counter(type(step) for plan in plans for step in plan.steps)
    assert all(kinds[kind] > 50 for kind in (AllSlice, AllToAll, CollectivePermute, AllGather))
    assert all(len(plan.steps) <= 6 for plan in plans)
