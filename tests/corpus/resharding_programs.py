"""Programs for which XLA's partitioner warns of full rematerializations, and some like them.

Each is a function without arguments that returns the text of a module.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

from tests.corpus.jax_programs import MESH_2D, MESH_3D, Array, arg, constrain, lower

__all__ = ["RESHARDING", "WARNED_OF"]

RESHARDING: dict[str, Callable[[], str]] = {}
WARNED_OF: list[str] = []


def warned_of(build: Callable[[], str]) -> Callable[[], str]:
    """Add a program of which XLA warns."""
    WARNED_OF.append(build.__name__)
    return quiet(build)


def quiet(build: Callable[[], str]) -> Callable[[], str]:
    """Add a program of which it does not, though it reshards."""
    RESHARDING[build.__name__] = functools.cache(build)
    return RESHARDING[build.__name__]


@warned_of
def weights_stored_otherwise() -> str:
    def f(x: Array, w: Array) -> Array:
        return jax.nn.relu(x @ constrain(w, P(None, "model"), **MESH_2D))

    return lower(
        f, arg((64, 128), P("data"), **MESH_2D), arg((128, 256), P("data", None), **MESH_2D)
    )


@warned_of
def sequence_to_batch() -> str:
    def f(x: Array, w: Array) -> Array:
        h = constrain(jnp.tanh(x), P("data", "fsdp", "model"), **MESH_3D)
        return constrain(h * 2.0, P(("data", "fsdp"), None, None), **MESH_3D) @ w

    return lower(f, arg((8, 32, 64)), arg((64, 64)))


@warned_of
def heads_to_features() -> str:
    def f(k: Array) -> Array:
        k = constrain(jnp.sin(k), P("data", ("fsdp", "model"), None), **MESH_3D)
        return constrain(k + 1.0, P("data", None, "fsdp"), **MESH_3D) * 2.0

    return lower(f, arg((8, 32, 64)))


@warned_of
def cached_keys() -> str:
    def f(cache: Array, q: Array) -> Array:
        cache = constrain(cache, P(None, None, "model"), **MESH_2D)
        return jnp.einsum("bd,btd->bt", q, cache)

    return lower(
        f, arg((8, 64, 64), P("data"), **MESH_2D), arg((8, 64), P(None, "model"), **MESH_2D)
    )


@warned_of
def gradient_layout() -> str:
    def loss(w: Array, x: Array) -> Array:
        return jnp.sum(jnp.tanh(x @ w) ** 2)

    def f(w: Array, x: Array) -> Array:
        g = constrain(jax.grad(loss)(w, x), P("data", None), **MESH_2D)
        return w - 0.1 * constrain(g, P(None, "model"), **MESH_2D)

    return lower(
        f, arg((64, 128), P(None, "model"), **MESH_2D), arg((32, 64), P("data"), **MESH_2D)
    )


@warned_of
def sum_of_two_layouts() -> str:
    def f(a: Array, b: Array) -> Array:
        a = constrain(jnp.exp(a), P("data", None), **MESH_2D)
        b = constrain(jnp.exp(b), P(None, "model"), **MESH_2D)
        return constrain(a, P(None, "model"), **MESH_2D) * b

    return lower(f, arg((64, 64)), arg((64, 64)))


@warned_of
def embedding_lookup() -> str:
    def f(table: Array, tokens: Array) -> Array:
        x = constrain(table[tokens], P(("data", "fsdp"), None, None), **MESH_3D)
        return jnp.tanh(x)

    return lower(
        f,
        arg((128, 64), P("model", "fsdp"), **MESH_3D),
        arg((8, 16), P(("data", "fsdp"), None), jnp.int32, **MESH_3D),
    )


@warned_of
def loop_with_two_layouts() -> str:
    def f(x: Array, w: Array) -> Array:
        def turn(x: Array, w: Array) -> tuple[Array, None]:
            h = constrain(x @ w, P("data", None, ("fsdp", "model")), **MESH_3D)
            return constrain(jnp.tanh(h), P("data", "fsdp", None), **MESH_3D), None

        return jax.lax.scan(turn, x, w)[0]

    return lower(f, arg((8, 16, 32), P("data", "fsdp"), **MESH_3D), arg((4, 32, 32)))


@quiet
def transposed_features() -> str:
    def f(x: Array, w: Array) -> Array:
        y = constrain(x @ w, P("data", None), **MESH_2D)
        return constrain(jnp.tanh(y).T, P("model", None), **MESH_2D) + 1.0

    return lower(f, arg((64, 64)), arg((64, 128)))


@quiet
def batch_to_experts() -> str:
    def f(x: Array) -> Array:
        x = constrain(jnp.sin(x), P("data", "model", None), **MESH_2D)
        return constrain(x, P("data", None, "model"), **MESH_2D) * 2.0

    return lower(f, arg((8, 32, 64)))


@quiet
def positions_by_model() -> str:
    def f(tokens: Array, table: Array, positions: Array, w: Array) -> Array:
        x = constrain(table[tokens], P("data", None, None), **MESH_2D) + positions
        return jnp.tanh(x @ w)

    return lower(
        f,
        arg((8, 64), P("data"), jnp.int32, **MESH_2D),
        arg((128, 64)),
        arg((64, 64), P(None, "model"), **MESH_2D),
        arg((64, 64), P(None, "model"), **MESH_2D),
    )


@quiet
def joined_sequences() -> str:
    def f(cache: Array, k: Array, q: Array) -> Array:
        keys = jnp.concatenate([cache, k], axis=1)
        return jax.nn.softmax(jnp.einsum("bd,btd->bt", q, keys))

    return lower(
        f,
        arg((8, 64, 64), P(None, None, "model"), **MESH_2D),
        arg((8, 8, 64), P("data"), **MESH_2D),
        arg((8, 64), P("data"), **MESH_2D),
    )


@quiet
def spatial_convolution() -> str:
    def f(images: Array, kernel: Array) -> Array:
        return jax.lax.conv_general_dilated(
            images, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    return lower(f, arg((8, 32, 32, 4), P("data", "model"), **MESH_2D), arg((3, 3, 4, 8)))
