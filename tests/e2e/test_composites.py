"""JAX's composites, followed into their decompositions, compute what they do on one device."""

from __future__ import annotations

import jax
from jax.sharding import PartitionSpec as P

from tests.e2e.partitioned import Argument, run_both

TOLERANCE = 1e-5


def gated(x: jax.Array, w: jax.Array) -> jax.Array:
    y = x @ w
    return y * jax.nn.sigmoid(y)


def test_the_result_of_a_composite_is_sharded_and_right() -> None:
    outcome = run_both(
        lambda _, x, w: jax.lax.composite(gated, name="my.gated")(x, w) + 1,
        Argument((8, 16), P("data", None)),
        Argument((16, 4), P(None, "model")),
        pipeline="sdy-propagation-pipeline{follow-composites=true}",
    )
    assert outcome.difference < TOLERANCE
    assert outcome.result_tiles() == [(2, 2)]
    assert outcome.kinds() == set()
