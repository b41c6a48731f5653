"""The demo's program: one train step of a transformer, in JAX."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MESH", "Size", "example_arrays", "lower_train_step", "train_step"]

MESH = AbstractMesh((2, 2, 2), ("data", "fsdp", "model"), (AxisType.Auto,) * 3)

Constrain = Callable[[jax.Array, P], jax.Array]
Parameters = dict[str, jax.Array]

# With the constraint in `_loss`, this is all that is said of shardings.
ANNOTATIONS: Mapping[str, P] = {
    "tokens": P("data", None),
    "embedding": P("model", "fsdp"),
    "query": P(None, "fsdp", "model", None),
    "up": P(None, "fsdp", "model"),
}

_LEARNING_RATE = 1e-2
_EPSILON = 1e-6


@dataclass(frozen=True, slots=True)
class Size:
    """The sizes of the model and of a batch of tokens."""

    layers: int = 2
    batch: int = 8
    sequence: int = 16
    width: int = 32
    heads: int = 4
    vocabulary: int = 64

    def parameters(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each parameter; those of all layers are stacked."""
        layers, width, heads = self.layers, self.width, self.heads
        projection = (layers, width, heads, width // heads)
        return {
            "embedding": (self.vocabulary, width),
            "query": projection,
            "key": projection,
            "value": projection,
            "output": (layers, heads, width // heads, width),
            "up": (layers, width, 4 * width),
            "down": (layers, 4 * width, width),
            "attention_scale": (layers, width),
            "mlp_scale": (layers, width),
        }


def _norm(x: jax.Array, scale: jax.Array) -> jax.Array:
    variance = jnp.mean(x * x, axis=-1, keepdims=True)
    return x * jax.lax.rsqrt(variance + _EPSILON) * scale


def _attention(x: jax.Array, layer: Parameters) -> jax.Array:
    query, key, value = (
        jnp.einsum("btd,dhk->bthk", x, layer[name]) for name in ("query", "key", "value")
    )
    scores = jnp.einsum("bthk,bshk->bhts", query, key) / np.sqrt(query.shape[-1])
    causal = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    weights = jax.nn.softmax(jnp.where(causal, scores, -1e9), axis=-1)
    return jnp.einsum("bhts,bshk,hkd->btd", weights, value, layer["output"])


def _layer(x: jax.Array, layer: Parameters) -> jax.Array:
    x = x + _attention(_norm(x, layer["attention_scale"]), layer)
    hidden = jax.nn.gelu(_norm(x, layer["mlp_scale"]) @ layer["up"])
    return x + hidden @ layer["down"]


def _loss(
    parameters: Parameters, tokens: jax.Array, constrain: Constrain
) -> tuple[jax.Array, jax.Array]:
    """Return the cross entropy of each token given those before it: the mean, and of each."""
    embedding = parameters["embedding"]
    x = constrain(embedding[tokens], P("data", None, None))
    layers = {name: value for name, value in parameters.items() if name != "embedding"}
    for i in range(parameters["up"].shape[0]):
        x = _layer(x, {name: value[i] for name, value in layers.items()})
    predicted = jax.nn.log_softmax(x @ embedding.T)
    expected = jax.nn.one_hot(jnp.roll(tokens, -1, axis=1), embedding.shape[0])
    losses = -jnp.sum(predicted * expected, axis=-1)
    return jnp.mean(losses), losses


def train_step(
    parameters: Parameters, tokens: jax.Array, constrain: Constrain = lambda x, _: x
) -> tuple[Parameters, jax.Array, jax.Array]:
    """Do one step of gradient descent.

    Returns:
      The parameters after it, and the loss before it: the mean, and that of each token, of
      shape `[batch, sequence]`.

    """
    value_and_grad = jax.value_and_grad(_loss, has_aux=True)
    (loss, losses), gradients = value_and_grad(parameters, tokens, constrain)
    updated = jax.tree.map(lambda p, g: p - _LEARNING_RATE * g, parameters, gradients)
    return updated, loss, losses


def lower_train_step(size: Size, mesh: AbstractMesh = MESH) -> jax.stages.Lowered:
    """Lower the annotated train step for a mesh with the axes of `MESH`; it needs no devices."""

    def argument(name: str, shape: tuple[int, ...], dtype: Any) -> jax.ShapeDtypeStruct:
        spec = ANNOTATIONS.get(name)
        sharding = None if spec is None else NamedSharding(mesh, spec)
        return jax.ShapeDtypeStruct(shape, dtype, sharding=sharding)

    def constrain(x: jax.Array, spec: P) -> jax.Array:
        return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, spec))

    shapes = size.parameters()
    parameters = {name: argument(name, shape, jnp.float32) for name, shape in shapes.items()}
    tokens = argument("tokens", (size.batch, size.sequence), jnp.int32)
    step = jax.jit(partial(train_step, constrain=constrain))
    return step.trace(parameters, tokens).lower(lowering_platforms=("cpu",))


def example_arrays(size: Size) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return parameters and tokens drawn at random, the same ones for the same size."""
    random = np.random.default_rng(0)
    parameters = {
        name: np.asarray(random.normal(scale=0.2, size=shape), np.float32)
        for name, shape in size.parameters().items()
    }
    tokens = random.integers(size.vocabulary, size=(size.batch, size.sequence), dtype=np.int32)
    return parameters, tokens
