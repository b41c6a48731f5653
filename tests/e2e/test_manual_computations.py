"""Programs with manual computations compute what they compute on one device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec as P

import sdy
from tests.corpus.jax_programs import MESH_2D, MESH_3D, arg, constrain, lower, mesh

TOLERANCE = 1e-4
LOCAL_CODE = Path(__file__).parent / "local_code.mlir"

Array: TypeAlias = Any
Case: TypeAlias = tuple[
    Callable[..., Array], Callable[..., Array], Sequence[Any], set[str], set[str]
]


def fully_manual() -> Case:
    def local(x: Array, w: Array) -> Array:
        return jax.lax.psum(x @ w, "model")

    def f(x: Array, w: Array) -> Array:
        specs = (P("data", "model"), P("model", None))
        mapped = jax.shard_map(
            local, mesh=mesh(**MESH_2D), in_specs=specs, out_specs=P("data", None)
        )
        return jnp.tanh(mapped(jnp.sin(x), w))

    def expected(x: Array, w: Array) -> Array:
        return np.tanh(np.sin(x) @ w)

    return f, expected, (arg((16, 32)), arg((32, 16))), {"all-reduce"}, set()


def partly_manual() -> Case:
    def local(x: Array, w: Array) -> Array:
        y = constrain_model(x @ w)
        return jax.lax.psum(jnp.sum(y, axis=0), "data")

    def constrain_model(y: Array) -> Array:
        return jax.lax.with_sharding_constraint(y, P(None, "model"))

    def f(x: Array, w: Array) -> Array:
        return jax.shard_map(
            local,
            mesh=mesh(**MESH_2D),
            in_specs=(P("data"), P()),
            out_specs=P(),
            axis_names={"data"},
        )(jnp.sin(x), w)

    def expected(x: Array, w: Array) -> Array:
        return (np.sin(x) @ w).sum(0)

    arguments = (arg((16, 32)), arg((32, 16), P(None, "model"), **MESH_2D))
    return f, expected, arguments, {"all-reduce"}, {"all-gather"}


def nested() -> Case:
    def inner(x: Array) -> Array:
        return jax.lax.psum(x, "model")

    def outer(x: Array) -> Array:
        mapped = jax.shard_map(
            inner, in_specs=P(None, "model"), out_specs=P(), axis_names={"model"}
        )
        return mapped(jnp.cos(x)) * 2.0

    def f(x: Array) -> Array:
        return jax.shard_map(
            outer,
            mesh=mesh(**MESH_3D),
            in_specs=P("data"),
            out_specs=P("data"),
            axis_names={"data"},
        )(x)

    def expected(x: Array) -> Array:
        return 2.0 * np.cos(x).reshape(16, 2, 16).sum(1)

    return f, expected, (arg((16, 32)),), {"all-reduce"}, set()


def twice_and_in_a_loop() -> Case:
    """Rotate shards around: one body is called in two places, once in a loop."""

    def local(x: Array) -> Array:
        return jax.lax.ppermute(x, "i", [(n, (n + 1) % 8) for n in range(8)]) + 1.0

    rotated = jax.shard_map(local, mesh=mesh(i=8), in_specs=P("i"), out_specs=P("i"))

    def f(x: Array) -> Array:
        once = rotated(x)
        return jax.lax.fori_loop(0, 3, lambda _, y: rotated(y), once) * constrain(x, P("i"), i=8)

    def expected(x: Array) -> Array:
        return (np.roll(x, 4 * 2, axis=0) + 4.0) * x

    return f, expected, (arg((16, 4)),), {"collective-permute"}, {"all-gather"}


def in_and_out_of_a_computation() -> Case:
    """Call one function both in a manual computation and outside of it."""

    @jax.jit
    def shared(x: Array) -> Array:
        return jnp.sin(x) - jnp.max(x, axis=1, keepdims=True)

    def local(x: Array) -> Array:
        return shared(x) + jax.lax.axis_index("i").astype(jnp.float32)

    def f(x: Array) -> Array:
        mapped = jax.shard_map(local, mesh=mesh(i=8), in_specs=P("i"), out_specs=P("i"))
        return mapped(x) + shared(constrain(x, P(None, "i"), i=8))

    def expected(x: Array) -> Array:
        y = np.sin(x) - x.max(axis=1, keepdims=True)
        return 2.0 * y + np.repeat(np.arange(8, dtype=np.float32), 2)[:, None]

    return f, expected, (arg((16, 32)),), {"all-reduce"}, set()


@pytest.mark.parametrize(
    "case",
    [fully_manual, partly_manual, nested, twice_and_in_a_loop, in_and_out_of_a_computation],
)
def test_numbers_and_collectives(case: Callable[[], Case]) -> None:
    f, expected, abstract, needed, superfluous = case()
    program = sdy.compile(sdy.propagate(lower(f, *abstract)), target="cpu:8")
    random = np.random.default_rng(0)
    arguments = [random.normal(size=a.shape).astype(np.float32) for a in abstract]
    (result,) = program(*arguments)
    difference = np.abs(np.asarray(result) - expected(*arguments)).max()
    assert difference < TOLERANCE
    kinds = {collective.kind for collective in program.collectives()}
    assert needed <= kinds
    assert not superfluous & kinds


def test_local_code_of_gspmds_users() -> None:
    module = sdy.from_gspmd(sdy.load(LOCAL_CODE.read_text()))
    program = sdy.compile(sdy.propagate(module), target="cpu:8")
    x = np.random.default_rng(0).normal(size=(8, 16)).astype(np.float32)
    (result,) = program(x)
    assert np.abs(np.asarray(result) - np.sin(x).sum(1)).max() < TOLERANCE
    assert {collective.kind for collective in program.collectives()} == {"all-reduce"}
