"""Arrays marked and placed on eight virtual devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import sdy
from sdy.compile.cpu import cpu_backend

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEVICES = cpu_backend(8).devices
MESH = sdy.Mesh({"x": 2, "y": 4}, [0, 2, 4, 6, 1, 3, 5, 7])
ARRAY = np.arange(64, dtype=np.float64).reshape(8, 8)


def mark(array: Any, *spec: Any, mesh: Any = MESH) -> jax.Array:
    marked: jax.Array = sdy.mark_sharding(array, mesh, spec, devices=DEVICES)
    return marked


def counted(before: Any) -> dict[str, int]:
    return dict(sdy.counters() - before)


def check_shards(array: jax.Array, expected: NDArray[Any], *spec: Any) -> None:
    """Check that every device has what the mesh and the spec say, by our own arithmetic."""
    slices = sdy.TensorSharding.from_partition_spec(MESH, spec).device_slices(expected.shape)
    held = {shard.device: np.asarray(shard.data) for shard in array.addressable_shards}
    assert set(held) == set(DEVICES)
    for number, where in slices.items():
        np.testing.assert_array_equal(held[DEVICES[number]], expected[where])


@pytest.mark.parametrize(
    "spec", [("x", None), (None, "y"), ("y", "x"), (("y", "x"), None), (None, None), (1, 0)]
)
def test_shards_are_made_from_the_hosts_copy(spec: tuple[Any, ...]) -> None:
    before = sdy.counters()
    marked = mark(ARRAY, *spec)
    assert counted(before) == {"mark_sharding.array_from_host": 1}
    assert marked.dtype == ARRAY.dtype
    check_shards(marked, ARRAY, *spec)


def test_an_array_on_a_device_is_transferred() -> None:
    array = jax.numpy.asarray(ARRAY, dtype=np.float32)
    before = sdy.counters()
    marked = mark(array, "y", "x")
    assert counted(before) == {"mark_sharding.array_by_transfer": 1}
    check_shards(marked, np.asarray(array), "y", "x")


def test_a_second_equal_mark_does_nothing() -> None:
    marked = mark(ARRAY, "x", None)
    before = sdy.counters()
    assert mark(marked, 0, ()) is marked
    assert counted(before) == {"mark_sharding.unchanged": 1}


def test_a_second_different_mark_is_refused_unless_the_first_is_replicated() -> None:
    marked = mark(ARRAY, "x", None)
    before = sdy.counters()
    with pytest.raises(sdy.Error, match=r"'x', None.*'y', None.*sdy\.clear_sharding"):
        mark(marked, "y", None)
    assert counted(before) == {"mark_sharding.refused": 1}
    check_shards(mark(mark(ARRAY, None, None), "y", None), ARRAY, "y", None)


def test_clearing_brings_the_array_to_the_host() -> None:
    cleared = sdy.clear_sharding(mark(ARRAY, "x", "y"))
    assert isinstance(cleared, np.ndarray)
    np.testing.assert_array_equal(cleared, ARRAY)
    check_shards(mark(cleared, "y", None), ARRAY, "y", None)


def test_a_mesh_of_jax_brings_its_devices() -> None:
    mesh = Mesh(np.asarray(DEVICES)[MESH.devices()], ("x", "y"))
    check_shards(sdy.mark_sharding(ARRAY, mesh, ("x", "y")), ARRAY, "x", "y")


def test_the_devices_are_those_of_jax_by_default() -> None:
    mesh = sdy.Mesh({"x": jax.device_count()})
    marked = sdy.mark_sharding(ARRAY, mesh, (None, "x"))
    assert marked.sharding.device_set == set(jax.devices())


def test_a_scalar_is_on_every_device() -> None:
    marked = mark(np.float32(3))
    assert marked.is_fully_replicated
    assert float(marked) == 3


@pytest.mark.parametrize(
    ("array", "spec", "mesh", "message"),
    [
        (ARRAY, ("x",), MESH, "1 entries for a tensor of rank 2"),
        (ARRAY, ("z", None), MESH, "unknown axis name"),
        (ARRAY, ("x", None), sdy.Mesh({"x": 4}), "4 devices, but there are 8"),
        (ARRAY, ("x", None), sdy.Mesh.maximal(0), "unknown axis name"),
        (ARRAY, (None, None), sdy.Mesh.maximal(0), "a maximal sharding can only"),
        (ARRAY, ("x", None), "mesh", "mesh: expected a Mesh"),
        (ARRAY[:7], ("x", None), MESH, "JAX cannot hold the array so"),
        ([1.0], ("x",), MESH, "expected a value of a module, or an array"),
    ],
)
def test_what_cannot_be_placed(array: Any, spec: Any, mesh: Any, message: str) -> None:
    before = sdy.counters()
    with pytest.raises(sdy.Error, match=message):
        mark(array, *spec, mesh=mesh)
    assert counted(before) == {}


def test_an_executable_takes_marked_arrays_as_they_lie() -> None:
    module = sdy.load("""\
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  return %arg0 : tensor<8x8xf32>
}
""")
    sdy.mark_sharding(sdy.find_value(module, "%arg0"), "mesh", ("x", "y"))
    executable = sdy.compile(module, "cpu:8")
    array = ARRAY.astype(np.float32)
    mesh = sdy.Mesh({"x": 2, "y": 4})
    marked = sdy.mark_sharding(array, mesh, ("x", "y"), devices=executable.devices)
    np.testing.assert_array_equal(np.asarray(executable(marked)[0]), array)


@pytest.mark.parametrize(
    "text",
    [
        '<mesh<["x"=2, "y"=4]>, [{"y"}, {"x"}]>',
        '<mesh<["x"=8]>, [{"x":(4)2}, {"x":(1)2}]>',
        '<mesh<["x"=2, "y"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>, [{"y":(2)2, "x"}, {}]>',
        '<mesh<["x"=4, "x.1"=2]>, [{"x":(2)2}, {"x.1"}]>',
    ],
)
def test_a_named_sharding_puts_the_same_parts_on_the_same_devices(text: str) -> None:
    sharding = sdy.parse_sharding(f"sharding{text}")
    named = sdy.jax.to_named_sharding(sharding, DEVICES)
    assert isinstance(named, NamedSharding)
    placed = jax.device_put(ARRAY.astype(np.float32), named)
    held = {shard.device: np.asarray(shard.data) for shard in placed.addressable_shards}
    for number, where in sharding.device_slices(ARRAY.shape).items():
        np.testing.assert_array_equal(held[DEVICES[number]], ARRAY[where])
    back = sdy.jax.from_named_sharding(named, rank=2, devices=DEVICES)
    assert back.is_equivalent(sharding, ARRAY.shape)


def test_devices_that_are_not_among_those_given() -> None:
    named = NamedSharding(Mesh(np.asarray(DEVICES), ("x",)), PartitionSpec("x"))
    with pytest.raises(sdy.Error, match="not among the devices given"):
        sdy.jax.from_named_sharding(named, devices=DEVICES[:4])
