"""Programs of many kinds, lowered by JAX with a few shardings: what passes are compared on.

Each is a function without arguments that returns the text of a module. The meshes are abstract:
no device is needed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

PROGRAMS: dict[str, Callable[[], str]] = {}

Array: TypeAlias = Any


def lower(function: Callable[..., Any], *arguments: Any) -> str:
    """Lower a function for CPU; return the text of the module, with locations."""
    traced = jax.jit(function).trace(*arguments)
    return str(traced.lower(lowering_platforms=("cpu",)).as_text(debug_info=True))


def program(build: Callable[[], str]) -> Callable[[], str]:
    """Add a program to the corpus under its function's name; it is lowered once."""
    lowered_once = functools.cache(build)
    PROGRAMS[build.__name__] = lowered_once
    return lowered_once


@functools.cache
def mesh(**axes: int) -> AbstractMesh:
    """Return a mesh without devices."""
    return AbstractMesh(tuple(axes.values()), tuple(axes), (AxisType.Auto,) * len(axes))


MESH_3D = {"data": 2, "fsdp": 2, "model": 2}
MESH_2D = {"data": 2, "model": 4}


def arg(
    shape: tuple[int, ...], spec: P | None = None, dtype: Any = jnp.float32, **axes: int
) -> Any:
    """Return an abstract argument, sharded by `spec` over the mesh of `axes`."""
    if spec is None:
        return jax.ShapeDtypeStruct(shape, dtype)
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh(**axes), spec))


def constrain(x: Array, spec: P, **axes: int) -> Array:
    """Constrain a value to `spec` over the mesh of `axes`."""
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh(**axes), spec))


# Transformers.


def norm(x: Array, scale: Array) -> Array:
    """Root-mean-square normalisation over the last dimension."""
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def attention(x: Array, w: dict[str, Array], heads: int) -> Array:
    """Causal self-attention; x is [batch, time, width]."""
    batch, time, width = x.shape
    q, k, v = (jnp.reshape(x @ w[n], (batch, time, heads, width // heads)) for n in "qkv")
    scores = jnp.einsum("bthd,bshd->bhts", q, k) / np.sqrt(width // heads)
    mask = jnp.tril(jnp.ones((time, time), bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9), axis=-1)
    mixed = jnp.einsum("bhts,bshd->bthd", weights, v).reshape(batch, time, width)
    return mixed @ w["o"]


def block(x: Array, w: dict[str, Array], heads: int) -> Array:
    """One transformer layer."""
    x = x + attention(norm(x, w["n1"]), w, heads)
    return x + jax.nn.gelu(norm(x, w["n2"]) @ w["up"]) @ w["down"]


def layer_arguments(width: int, hidden: int, axes: dict[str, int]) -> dict[str, Any]:
    """Return the abstract weights of one layer."""
    column, row = P("fsdp", "model"), P("model", "fsdp")
    return {
        "n1": arg((width,), P(None), **axes),
        "n2": arg((width,), P(None), **axes),
        **{name: arg((width, width), column, **axes) for name in "qkv"},
        "o": arg((width, width), row, **axes),
        "up": arg((width, hidden), column, **axes),
        "down": arg((hidden, width), row, **axes),
    }


def next_token_loss(logits: Array, tokens: Array) -> Array:
    """Mean cross-entropy of the next token."""
    logp = jax.nn.log_softmax(logits[:, :-1])
    return -jnp.mean(jnp.take_along_axis(logp, tokens[:, 1:, None], axis=-1))


def train_step(layers: int, *, width: int = 64, heads: int = 4, vocab: int = 128) -> str:
    """Lower one gradient step of a transformer whose layers are unrolled."""
    axes = MESH_3D

    def loss(params: dict[str, Any], tokens: Array) -> Array:
        x = params["embed"][tokens]
        for w in params["layers"]:
            x = block(x, w, heads)
        return next_token_loss(norm(x, params["n"]) @ params["embed"].T, tokens)

    def step(params: dict[str, Any], tokens: Array) -> tuple[Array, dict[str, Any]]:
        value, grads = jax.value_and_grad(loss)(params, tokens)
        return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)

    params = {
        "embed": arg((vocab, width), P("model", "fsdp"), **axes),
        "n": arg((width,), P(None), **axes),
        "layers": [layer_arguments(width, 4 * width, axes) for _ in range(layers)],
    }
    return lower(step, params, arg((8, 16), P(("data", "fsdp"), None), jnp.int32, **axes))


@program
def train_step_unrolled() -> str:
    return train_step(2)


@program
def train_step_scanned_with_remat() -> str:
    axes, width, heads, layers = MESH_3D, 32, 4, 3

    def loss(params: dict[str, Any], tokens: Array) -> Array:
        x = params["embed"][tokens]

        @jax.checkpoint
        def body(x: Array, w: dict[str, Array]) -> tuple[Array, None]:
            return block(x, w, heads), None

        x, _ = jax.lax.scan(body, x, params["layers"])
        return next_token_loss(x @ params["embed"].T, tokens)

    one = layer_arguments(width, 4 * width, axes)
    stacked = {
        name: arg((layers, *w.shape), P(None, *w.sharding.spec), **axes) for name, w in one.items()
    }
    params = {"embed": arg((64, width), P("model", None), **axes), "layers": stacked}
    tokens = arg((4, 16), P("data", None), jnp.int32, **axes)
    return lower(jax.grad(loss), params, tokens)


@program
def attention_forward() -> str:
    axes = MESH_2D
    weights = {name: arg((64, 64), P(None, "model"), **axes) for name in "qkv"}
    weights["o"] = arg((64, 64))
    x = arg((4, 16, 64), P("data", None, None), **axes)
    return lower(functools.partial(attention, heads=8), x, weights)


@program
def mixture_of_experts() -> str:
    axes = {"data": 2, "expert": 4}

    def layer(x: Array, gate: Array, up: Array, down: Array) -> Array:
        probabilities = jax.nn.softmax(x @ gate)
        weight, chosen = jax.lax.top_k(probabilities, 2)
        one_hot = jax.nn.one_hot(chosen, gate.shape[1]) * weight[..., None]
        dispatched = jnp.einsum("btke,btd->ebtd", one_hot, x)
        dispatched = constrain(dispatched, P("expert", "data", None, None), **axes)
        hidden = jax.nn.relu(jnp.einsum("ebtd,edf->ebtf", dispatched, up))
        return jnp.einsum("ebtf,efd->btd", hidden, down)

    return lower(
        layer,
        arg((4, 8, 16), P("data"), **axes),
        arg((16, 4)),
        arg((4, 16, 32), P("expert"), **axes),
        arg((4, 32, 16), P("expert"), **axes),
    )


@program
def decoding_with_cache() -> str:
    axes = MESH_2D

    def decode(cache: Array, x: Array, w: Array) -> tuple[Array, Array]:
        def cond(carry: tuple[Array, Array, Array]) -> Array:
            return carry[0] < 8

        def body(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            i, cache, x = carry
            cache = jax.lax.dynamic_update_slice(cache, (x @ w)[:, None], (0, i, 0))
            scores = jax.nn.softmax(jnp.einsum("bd,btd->bt", x, cache))
            return i + 1, cache, jnp.einsum("bt,btd->bd", scores, cache)

        _, cache, x = jax.lax.while_loop(cond, body, (jnp.int32(0), cache, x))
        return cache, x

    return lower(
        decode,
        arg((4, 8, 32), P("data", None, "model"), **axes),
        arg((4, 32)),
        arg((32, 32), P(None, "model"), **axes),
    )


# Other models.


@program
def mlp_gradient() -> str:
    axes = MESH_2D

    def loss(weights: list[Array], x: Array, y: Array) -> Array:
        for w in weights:
            x = jnp.tanh(x @ w)
        return jnp.mean((x - y) ** 2)

    weights = [
        arg((32, 64), P(None, "model"), **axes),
        arg((64, 64)),
        arg((64, 16), P("model", None), **axes),
    ]
    x = arg((16, 32), P("data", None), **axes)
    return lower(jax.value_and_grad(loss), weights, x, arg((16, 16)))


@program
def convolution_net() -> str:
    axes = MESH_2D

    def loss(kernels: list[Array], head: Array, images: Array) -> Array:
        x = images
        for kernel in kernels:
            x = jax.lax.conv_general_dilated(
                x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            x = jax.nn.relu(x)
            x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")
        return jnp.sum(jax.nn.log_softmax(x.reshape(x.shape[0], -1) @ head))

    kernels = [arg((3, 3, 3, 16), P(None, None, None, "model"), **axes), arg((3, 3, 16, 16))]
    images = arg((8, 16, 16, 3), P("data"), **axes)
    return lower(jax.grad(loss), kernels, arg((256, 10)), images)


# Control flow and calls.


@program
def branches() -> str:
    axes = MESH_2D

    def choose(i: Array, x: Array, y: Array) -> tuple[Array, Array]:
        z = jax.lax.switch(
            i, [lambda a, b: a + b, lambda a, b: a @ b, lambda a, b: (a * b).T], x, y
        )
        w = jax.lax.cond(i > 1, lambda a: jnp.sin(a), lambda a: a * 2.0, z)
        return z, w

    return lower(
        choose, arg((), None, jnp.int32), arg((16, 16), P("data", None), **axes), arg((16, 16))
    )


@program
def nested_jit() -> str:
    axes = MESH_2D

    @jax.jit
    def inner(x: Array, w: Array) -> Array:
        return jax.nn.silu(x @ w)

    def outer(x: Array, w: Array, v: Array) -> Array:
        return inner(inner(x, w), v) + inner(x, v)

    return lower(
        outer,
        arg((16, 32), P("data", None), **axes),
        arg((32, 32), P(None, "model"), **axes),
        arg((32, 32)),
    )


@program
def optimization_barrier() -> str:
    axes = MESH_2D

    def f(x: Array, y: Array) -> Array:
        a, b = jax.lax.optimization_barrier((x * 2.0, y + 1.0))
        return a @ b

    return lower(f, arg((16, 32), P("data", "model"), **axes), arg((32, 16)))


@program
def shard_map_full() -> str:
    axes = MESH_2D

    def f(x: Array, w: Array) -> Array:
        def local(x: Array, w: Array) -> Array:
            return jax.lax.psum(x @ w, "model")

        mapped = jax.shard_map(
            local,
            mesh=mesh(**axes),
            in_specs=(P("data", "model"), P("model", None)),
            out_specs=P("data", None),
        )
        return jnp.tanh(mapped(jnp.sin(x), w))

    return lower(f, arg((16, 32)), arg((32, 16)))


@program
def shard_map_partial() -> str:
    axes = MESH_2D

    def f(x: Array, w: Array) -> Array:
        def local(x: Array, w: Array) -> Array:
            return jax.lax.psum(jnp.sum(x @ w, axis=0), "data")

        mapped = jax.shard_map(
            local,
            mesh=mesh(**axes),
            in_specs=(P("data"), P()),
            out_specs=P(),
            axis_names={"data"},
        )
        return mapped(jnp.sin(x), w)

    return lower(f, arg((16, 32)), arg((32, 16), P(None, "model"), **axes))


if find_spec("jax.experimental.shard_alike"):  # JAX 0.12 does without

    @program
    def shard_alike() -> str:
        from jax.experimental.shard_alike import shard_alike as alike

        axes = MESH_2D

        def f(x: Array, y: Array) -> tuple[Array, Array]:
            a, b = alike(x * 2.0, y + 1.0)
            return a.T, b

        return lower(f, arg((16, 16), P("data", "model"), **axes), arg((16, 16)))


# Ops of their own.


@program
def gather_and_scatter() -> str:
    axes = MESH_2D

    def f(table: Array, ids: Array, updates: Array) -> tuple[Array, Array]:
        return jnp.take(table, ids, axis=0), table.at[ids].add(updates)

    return lower(
        f,
        arg((64, 32), P("model", None), **axes),
        arg((16,), P("data"), jnp.int32, **axes),
        arg((16, 32)),
    )


@program
def sort_and_top_k() -> str:
    axes = MESH_2D

    def f(x: Array) -> tuple[Array, Array, Array]:
        values, indices = jax.lax.top_k(x, 4)
        return jnp.sort(x, axis=0), values, jnp.argsort(x)[indices[:, 0]]

    return lower(f, arg((16, 32), P("data", "model"), **axes))


@program
def fft_round_trip() -> str:
    axes = MESH_2D

    def f(x: Array) -> Array:
        return jnp.fft.irfft(jnp.fft.rfft(x) * 2.0) + jnp.abs(jnp.fft.fft2(x))

    return lower(f, arg((4, 16, 16), P("data", "model", None), **axes))


@program
def cumulative_sums() -> str:
    axes = MESH_2D

    def f(x: Array) -> Array:
        return jnp.cumsum(x, axis=1) + jax.lax.cummax(x, axis=0)

    return lower(f, arg((16, 32), P("data", "model"), **axes))


@program
def random_bits() -> str:
    axes = MESH_2D

    def f(key: Array, x: Array) -> Array:
        noise = jax.random.normal(jax.random.wrap_key_data(key), x.shape)
        return jnp.where(noise > 0.0, x, noise)

    return lower(f, arg((2,), None, jnp.uint32), arg((16, 32), P("data", "model"), **axes))


@program
def linear_algebra() -> str:
    axes = MESH_2D

    def f(a: Array, b: Array) -> Array:
        factor = jnp.linalg.cholesky(a)
        return jax.scipy.linalg.solve_triangular(factor, b, lower=True)

    return lower(f, arg((4, 16, 16), P("data"), **axes), arg((4, 16, 8)))


@program
def reshapes_that_split_and_merge() -> str:
    axes = {"x": 4, "y": 2}

    def f(a: Array, b: Array) -> tuple[Array, Array, Array]:
        split = a.reshape(2, 4, 6)
        merged = b.reshape(48) * 3.0
        return split.transpose(2, 0, 1), merged.reshape(2, 24), jnp.flip(split.reshape(8, 6), 0)

    return lower(f, arg((8, 6), P("x", "y"), **axes), arg((4, 2, 6), P("y", None, None), **axes))


@program
def uneven_sizes() -> str:
    axes = MESH_2D

    def f(x: Array, w: Array) -> Array:
        y = jnp.concatenate([x @ w, jnp.ones((6, 5))], axis=1)
        return jnp.pad(y, ((1, 2), (0, 3)))[:7] * 2.0

    def g(x: Array, w: Array) -> Array:
        x = constrain(x, P("data", "model"), **axes)
        return f(x, constrain(w, P("model", None), **axes))

    return lower(g, arg((6, 7)), arg((7, 8)))


@program
def constraints_in_chains() -> str:
    axes = MESH_2D
    unconstrained = P.UNCONSTRAINED

    def f(x: Array) -> tuple[Array, Array]:
        y = constrain(x, P("data", unconstrained), **axes)
        z = constrain(y, P(unconstrained, "model"), **axes)
        constrain(z, P(None, "data"), **axes)
        return y * 2.0, z.T

    return lower(f, arg((16, 32)))
