"""`sdy.jit` is called as `jax.jit`, and compiles once for arguments of the same types."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import sdy
from sdy.compile.targets import backend_for
from sdy.dialect.errors import Error
from tests.e2e.partitioned import MESH

X = np.random.default_rng(0).normal(size=(8, 16)).astype(np.float32)
W = np.random.default_rng(1).normal(size=(16, 4)).astype(np.float32)


def named(*spec: str | None) -> NamedSharding:
    return NamedSharding(MESH, P(*spec))


def matmul(x: jax.Array, tree: dict[str, jax.Array]) -> dict[str, jax.Array]:
    return {"y": jnp.tanh(x @ tree["w"]), "w": tree["w"]}


def test_propagation_is_ours_and_the_numbers_are_right() -> None:
    function = sdy.jit(
        matmul, in_shardings=(named("data"), {"w": named(None, "model")}), target="cpu:8"
    )
    returned = function(X, {"w": W})
    np.testing.assert_allclose(returned["y"], np.tanh(X @ W), rtol=1e-4, atol=1e-5)
    assert returned["y"].sharding.spec == P("data", "model")
    assert vars(function)["__name__"] == "matmul"


def test_results_are_as_they_are_asked_for() -> None:
    function = sdy.jit(
        lambda x: x + 1,
        in_shardings=named("data"),
        out_shardings=named(None, "model"),
        target="cpu:8",
    )
    assert function(X).sharding.spec == P(None, "model")
    assert {c.kind for c in function.compile(X).collectives()} != set()


def test_one_program_serves_all_arguments_of_the_same_types() -> None:
    function = sdy.jit(matmul, target="cpu:8", in_shardings=(named("data"), None))
    first = function.compile(X, {"w": W})
    assert function.compile(2 * X, {"w": W}) is first
    assert function.compile(jax.ShapeDtypeStruct((8, 16), np.float32), {"w": W}) is first
    assert function.compile(X[:4], {"w": W}) is not first
    assert function.compile(X, {"w": W, "v": W}) is not first


def test_static_arguments_are_part_of_the_program() -> None:
    def power(x: jax.Array, times: int, scale: float) -> jax.Array:
        return scale * x**times

    function = sdy.jit(power, static_argnames=("times", "scale"), target="cpu:8")
    np.testing.assert_allclose(function(X, 3, 2.0), 2 * X**3, rtol=1e-5)
    np.testing.assert_allclose(function(X, 2, scale=2.0), 2 * X**2, rtol=1e-5)
    assert function.compile(X, 3, 2.0) is function.compile(X, 3, 2.0)
    assert function.compile(X, 3, 2.0) is not function.compile(X, 3, 1.0)
    by_number = sdy.jit(power, static_argnums=(-2, 2), target="cpu:8")
    np.testing.assert_allclose(by_number(X, 2, 1.0), X**2, rtol=1e-5)
    named = sdy.jit(power, static_argnums=(1, 2), target="cpu:8")
    np.testing.assert_allclose(named(X, times=2, scale=1.0), X**2, rtol=1e-5)


def test_a_mesh_of_devices_is_the_target_in_its_order() -> None:
    devices = np.asarray(backend_for("cpu:4").devices)[[3, 1, 2, 0]]
    mesh = Mesh(devices.reshape(2, 2), ("a", "b"))
    function = sdy.jit(lambda x: 2 * x, in_shardings=NamedSharding(mesh, P("a")))
    once = function(X)
    assert once.sharding == NamedSharding(mesh, P("a", None))
    first_rows = {shard.device.id: shard.index[0].start for shard in once.addressable_shards}
    assert first_rows == {3: 0, 1: 0, 2: 4, 0: 4}
    np.testing.assert_array_equal(function(once), 4 * X)


def test_python_numbers_are_arguments() -> None:
    function = sdy.jit(lambda x, factor: x * factor, target="cpu:8")
    np.testing.assert_array_equal(function(X, 2), 2 * X)


def test_numpys_64_bits_are_taken_as_jax_takes_them() -> None:
    function = sdy.jit(lambda x: x + 1, target="cpu:8")
    assert function(X.astype(np.float64)).dtype == np.float32
    assert function(np.int64(3)).dtype == np.int32


def test_it_is_no_part_of_another_program() -> None:
    function = sdy.jit(lambda x: x + 1, target="cpu:8")
    with pytest.raises(Error, match="cannot be called where JAX traces another function"):
        jax.jit(function)(X)


def test_without_devices_a_target_must_be_given() -> None:
    function = sdy.jit(lambda x: x, in_shardings=named("data"))
    with pytest.raises(Error, match="has no devices: give a target"):
        function(X)


def test_without_shardings_it_runs_on_one_device() -> None:
    assert sdy.jit(lambda x: x + 1).compile(X).devices == (jax.devices()[0],)


def test_other_arguments_are_refused_as_jax_does() -> None:
    function: Any = sdy.jit(matmul, target="cpu:8")
    with pytest.raises(TypeError):
        function(X)
