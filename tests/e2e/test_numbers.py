"""Partitioned programs compute what they compute on one device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec as P

from tests.e2e.partitioned import Argument, run_both

if TYPE_CHECKING:
    from collections.abc import Callable

    from jax import Array

TOLERANCE = 1e-5

Constrain = Any


def test_mlp() -> None:
    def mlp(_: Constrain, x: Array, up: Array, down: Array) -> Array:
        return jnp.tanh(x @ up) @ down

    outcome = run_both(
        mlp,
        Argument((8, 16), P("data", None)),
        Argument((16, 32), P(None, "model")),
        Argument((32, 16)),
    )
    assert outcome.difference < TOLERANCE
    assert outcome.kinds() == {"all-reduce"}
    assert outcome.result_tiles() == [(2, 1)]


def test_gradient_of_an_mlp() -> None:
    def loss(_: Constrain, x: Array, up: Array, down: Array) -> Array:
        return jnp.mean(jnp.square(jax.nn.relu(x @ up) @ down))

    def step(constrain: Constrain, x: Array, up: Array, down: Array) -> tuple[Array, ...]:
        gradients = jax.grad(loss, argnums=(2, 3))(constrain, x, up, down)
        return tuple(w - 0.1 * g for w, g in zip((up, down), gradients, strict=True))

    outcome = run_both(
        step,
        Argument((8, 16), P("data", None)),
        Argument((16, 32), P("fsdp", "model")),
        Argument((32, 16), P("model", "fsdp")),
    )
    assert outcome.difference < TOLERANCE
    assert outcome.result_tiles() == [(2, 2), (2, 2)]


def test_convolution_net() -> None:
    def net(constrain: Constrain, images: Array, kernel: Array, scale: Array) -> Array:
        layout = ("NHWC", "HWIO", "NHWC")
        x = jax.lax.conv_general_dilated(images, kernel, (1, 1), "SAME", dimension_numbers=layout)
        x = jax.nn.relu(x * scale)
        window = (1, 2, 2, 1)
        x = jax.lax.reduce_window(x, -np.inf, jax.lax.max, window, window, "VALID")
        return jnp.mean(constrain(x, "data", None, None, None), axis=(1, 2))

    outcome = run_both(
        net,
        Argument((4, 8, 8, 3), P("data", "fsdp", None, None)),
        Argument((3, 3, 3, 8)),
        Argument((8,)),
    )
    assert outcome.difference < TOLERANCE
    assert "collective-permute" in outcome.kinds()  # the halo of the split image
    assert outcome.result_tiles() == [(2, 1)]


def test_attention() -> None:
    def attention(_: Constrain, x: Array, q: Array, k: Array, v: Array, o: Array) -> Array:
        query, key, value = (jnp.einsum("btd,dhk->bthk", x, w) for w in (q, k, v))
        weights = jax.nn.softmax(jnp.einsum("bthk,bshk->bhts", query, key) / 2.0, axis=-1)
        return jnp.einsum("bhts,bshk,hkd->btd", weights, value, o)

    projection = (16, 4, 4)
    outcome = run_both(
        attention,
        Argument((4, 8, 16), P("data", None, None)),
        Argument(projection, P(None, "model", None)),
        Argument(projection),
        Argument(projection),
        Argument((4, 4, 16)),
    )
    assert outcome.difference < TOLERANCE
    assert outcome.kinds() == {"all-reduce"}
    assert outcome.result_tiles() == [(2, 1, 1)]


def test_loop_over_layers() -> None:
    def loop(constrain: Constrain, x: Array, weights: Array) -> Array:
        def layer(x: Array, w: Array) -> tuple[Array, None]:
            return constrain(jnp.tanh(x @ w), "data", "model"), None

        return jax.lax.scan(layer, x, weights)[0]

    outcome = run_both(
        loop, Argument((8, 16), P("data", None)), Argument((3, 16, 16), P(None, "fsdp", "model"))
    )
    assert outcome.difference < TOLERANCE
    assert outcome.result_tiles() == [(2, 2)]
    assert " while(" in outcome.executable.hlo_text()


def test_branches() -> None:
    def branches(_: Constrain, x: Array) -> Array:
        steps: list[Callable[[Array], Array]] = [jnp.sin, jnp.cos]
        return jax.lax.cond(x[0, 0] > 0, *steps, x) * 2.0

    outcome = run_both(branches, Argument((8, 16), P("data", "model")))
    assert outcome.difference < TOLERANCE
    assert outcome.result_tiles() == [(2, 2)]


def test_dimensions_that_are_not_divisible() -> None:
    def uneven(constrain: Constrain, x: Array, w: Array) -> Array:
        x = constrain(x @ w, ("data", "model"), None)
        return jnp.sum(x, axis=0) + jnp.max(x)

    outcome = run_both(uneven, Argument((7, 5)), Argument((5, 3)))
    assert outcome.difference < TOLERANCE
