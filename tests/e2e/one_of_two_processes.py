"""What each of two processes of four CPU devices does with a program for eight.

`python -m tests.e2e.one_of_two_processes COORDINATOR INDEX FOLDER` writes what it sees of the
results to the folder.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import sdy

__all__ = ["W", "X", "lower", "run"]

MESH = AbstractMesh((2, 4), ("data", "model"), (AxisType.Auto,) * 2)

W = np.linspace(-1, 1, 16 * 32, dtype=np.float32).reshape(16, 32)
X = np.linspace(0, 2, 8 * 16, dtype=np.float32).reshape(8, 16)


def lower() -> jax.stages.Lowered:
    """Lower a gradient step; one of its results is split unevenly."""

    def step(state: dict[str, Any], x: jax.Array) -> tuple[dict[str, Any], jax.Array]:
        def loss(w: jax.Array) -> tuple[jax.Array, jax.Array]:
            y = jnp.tanh(x @ w)
            return jnp.mean(y * y), y

        (_, y), gradient = jax.value_and_grad(loss, has_aux=True)(state["w"])
        uneven = jax.lax.with_sharding_constraint(y[:7], NamedSharding(MESH, P("data", "model")))
        return {"w": state["w"] - 0.1 * gradient}, uneven

    def typed(array: np.ndarray, *spec: str | None) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(
            array.shape, array.dtype, sharding=NamedSharding(MESH, P(*spec))
        )

    traced = jax.jit(step).trace({"w": typed(W, None, "model")}, typed(X, "data", None))
    return traced.lower(lowering_platforms=("cpu",))


def run(program: Any) -> tuple[jax.Array, jax.Array]:
    """Take two steps, the second with what the first returned; return the results."""
    state, _ = program({"w": W}, X)
    state, uneven = program(state, X)
    return state["w"], uneven


def _parts(array: jax.Array) -> dict[str, np.ndarray]:
    return {
        f"part{shard.device.id:07}": np.asarray(shard.data) for shard in array.addressable_shards
    }


def main() -> None:
    """Run the program, saved and loaded too, and write the parts of this process."""
    coordinator, index, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 4)
    jax.distributed.initialize(coordinator, num_processes=2, process_id=index)
    program = sdy.compile(lower(), jax.devices())
    weights, uneven = run(program)
    assert not weights.is_fully_addressable
    path = folder / f"program{index}"
    program.save(path)
    again, _ = run(sdy.load_executable(path, jax.devices()))
    parts = _parts(weights)
    for name, part in _parts(again).items():
        np.testing.assert_array_equal(part, parts[name])
    marked = sdy.mark_sharding(W, sdy.Mesh({"all": 8}), (None, "all"))
    # An array of all processes, laid out otherwise than the program takes it.
    moved, _ = program({"w": marked}, X)
    seen: dict[str, Any] = {
        "uneven": np.asarray(uneven),
        "moved": np.asarray(moved["w"].addressable_shards[0].data),
        **parts,
    }
    np.savez(folder / f"results{index}", **seen)
    jax.distributed.shutdown()


if __name__ == "__main__":
    main()
