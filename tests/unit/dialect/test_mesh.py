"""Meshes as values."""

from __future__ import annotations

import pickle
import time
from typing import Any

import numpy as np
import pytest

from sdy.dialect.errors import Error, VerifyError
from sdy.dialect.mesh import Mesh, MeshAxis
from sdy.dialect.sharding import TensorSharding


def test_a_mesh_from_sizes_by_name() -> None:
    mesh = Mesh({"data": 2, "model": 4}, name="mesh")
    assert mesh.axes == (MeshAxis("data", 2), MeshAxis("model", 4))
    assert (mesh.axis_names, mesh.shape, mesh.size) == (("data", "model"), (2, 4), 8)
    assert (mesh.axis_size("model"), mesh.axis_index("model")) == (4, 1)
    assert mesh.has_axis("data")
    assert not mesh.has_axis("x")
    assert str(mesh) == '@mesh = <["data"=2, "model"=4]>'
    assert mesh.devices().tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_an_axis_that_is_not_there() -> None:
    for ask in (Mesh({"x": 2}).axis_size, Mesh({"x": 2}).axis_index):
        with pytest.raises(VerifyError, match=r'^unknown axis name: "y"$'):
            ask("y")


def test_device_ids_in_another_order() -> None:
    mesh = Mesh({"x": 2, "y": 2}, [0, 2, 1, 3])
    assert mesh.devices().tolist() == [[0, 2], [1, 3]]
    assert Mesh({"x": 2, "y": 2}, np.array([[0, 2], [1, 3]])) == mesh
    assert str(mesh) == '<["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>'


def test_device_ids_that_say_nothing_are_dropped() -> None:
    assert Mesh({"x": 2, "y": 2}, range(4)) == Mesh({"x": 2, "y": 2})
    assert Mesh({"x": 1}, [0]) == Mesh({"x": 1})
    assert Mesh((), [0]).is_maximal


def test_empty_and_maximal_meshes() -> None:
    empty, maximal = Mesh(), Mesh.maximal(3)
    assert (empty.is_empty, empty.is_maximal, empty.maximal_device) == (True, False, None)
    assert (maximal.is_empty, maximal.is_maximal, maximal.maximal_device) == (False, True, 3)
    assert (str(empty), str(maximal)) == ("<[]>", "<[], device_ids=[3]>")
    assert not Mesh({"x": 1}).is_maximal


def test_equality() -> None:
    mesh = Mesh({"x": 4}, name="m")
    other = mesh.renamed("n")
    assert mesh != other
    assert mesh.equals(other)
    assert mesh.renamed(None).name is None
    reordered = Mesh({"x": 4}, [3, 2, 1, 0])
    assert not mesh.equals(reordered)
    assert mesh.equals(reordered, ignore_device_ids=True)
    assert not Mesh().equals(Mesh.maximal(0), ignore_device_ids=True)
    assert len({mesh, Mesh({"x": 4}, name="m"), other}) == 2
    assert pickle.loads(pickle.dumps(reordered)) == reordered


@pytest.mark.parametrize(
    ("mesh", "message"),
    [
        (Mesh({"x": 0}), "axis size must be at least 1, got: 0"),
        (Mesh([MeshAxis("a", 2), MeshAxis("a", 4)]), 'duplicate axis name: "a"'),
        (Mesh((), [-1]), "device id must be non-negative, got: -1"),
        (Mesh((), [1, 0]), "axes is empty and device_ids has more than one element"),
        (
            Mesh({"a": 2, "b": 2}, [0, 2, 1, 3, 4, 5]),
            "total product of axis sizes must match total number of device ids, got: 4 != 6",
        ),
        (Mesh({"a": 2}, [1, 1]), "sorted device ids must be iota(product(axes)), got: 1, 1"),
        (Mesh({"a": 2**63}), "axis size must be at most 2^63-1, got: 9223372036854775808"),
        (Mesh({}, [2**63]), "device id must be at most 2^63-1, got: 9223372036854775808"),
        (
            Mesh({"\ud800": 2}),
            r"name has half of a surrogate, which is no character: '\ud800'",
        ),
        (Mesh({"a": 2}, [2, 1]), "sorted device ids must be iota(product(axes)), got: 1, 2"),
    ],
)
def test_what_a_mesh_may_not_be(mesh: Mesh, message: str) -> None:
    with pytest.raises(VerifyError) as caught:
        mesh.verify()
    assert str(caught.value) == message


@pytest.mark.parametrize("name", ["mesh", "a.b$c_1", "_", "0", "with space", 'q"', "é", ""])
def test_names_are_quoted_where_they_must_be(name: str) -> None:
    text = str(Mesh(name=name))
    assert text.isascii()
    assert text.startswith('@"') == (name not in ("mesh", "a.b$c_1", "_"))


def test_a_mesh_of_100_000_devices_is_cheap() -> None:
    def cpu_seconds(x: int, y: int) -> float:
        ids = np.arange(x * y)[::-1]
        start = time.process_time()
        mesh = Mesh({"x": x, "y": y}, ids)
        mesh.verify()
        sharding = TensorSharding.fully_open(mesh, 2)
        assert len({hash(sharding) for _ in range(1000)}) == 1
        return time.process_time() - start

    # Reading the ids takes time once; each hash would take more if it read them.
    small = min(cpu_seconds(2, 4) for _ in range(5))
    assert min(cpu_seconds(100, 1000) for _ in range(5)) < 500 * small


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None,), "axes: expected the size of each axis by name, or MeshAxis values, got NoneType"),
        (([("x", 2)],), "axes: expected .*, got tuple"),
        (({1: 2},), "axis name: expected a str, got int"),
        (({"x": 2.0},), 'size of axis "x": expected an integer, got float'),
        (({"x": 2}, ["0", "1"]), "device_ids: expected integers, 'str' object cannot be"),
        (({"x": 2}, 3), "device_ids: expected integers, got int"),
        (({"x": 2}, None, 3), "name: expected a str or None, got int"),
    ],
)
def test_arguments_of_other_types(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(TypeError, match=message) as caught:
        Mesh(*arguments)
    assert isinstance(caught.value, Error)


def test_sizes_of_numpy_are_sizes() -> None:
    assert Mesh({"x": np.int64(2)}) == Mesh({"x": 2})


def test_devices_are_listed_where_an_array_can_hold_them() -> None:
    with pytest.raises(VerifyError, match="1099511627776 devices is too large to list them"):
        Mesh({"x": 2**40}).devices()
    wide = Mesh({f"a{i}": 1 for i in range(70)})
    assert wide.flat_devices().tolist() == [0]
    with pytest.raises(VerifyError, match="70 axes is no array: the limit is 64 dimensions"):
        wide.devices()
    with pytest.raises(VerifyError, match="axis size must be at least 1, got: 0"):
        Mesh({"x": 0}).devices()
