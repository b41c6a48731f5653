"""Programs compiled for eight virtual CPU devices, beside the same program on one.

A program is a function of `constrain`, which in the partitioned program is JAX's sharding
constraint and in the other does nothing, and of arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from sdy.compile.compiler import compile as compile_program
from sdy.ir.load import load
from sdy.passes.pipeline import run_pipeline

if TYPE_CHECKING:
    from collections.abc import Callable

    from sdy.compile.executable import Executable

__all__ = ["MESH", "Argument", "Outcome", "lower", "run_both"]

MESH = AbstractMesh((2, 2, 2), ("data", "fsdp", "model"), (AxisType.Auto,) * 3)


@dataclass(frozen=True, slots=True)
class Argument:
    """A shape drawn at random for, and its sharding; None where propagation is to find it."""

    shape: tuple[int, ...]
    spec: P | None = None

    def type(self) -> jax.ShapeDtypeStruct:
        sharding = None if self.spec is None else NamedSharding(MESH, self.spec)
        return jax.ShapeDtypeStruct(self.shape, np.float32, sharding=sharding)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The compiled program, and the largest difference to one device's results."""

    executable: Executable
    difference: float

    def kinds(self) -> set[str]:
        return {collective.kind for collective in self.executable.collectives()}

    def result_tiles(self) -> list[tuple[int, ...]]:
        return [sharding.data_dims for sharding in self.executable.result_shardings]


def _constrain(x: jax.Array, *spec: str | None) -> jax.Array:
    return jax.lax.with_sharding_constraint(x, NamedSharding(MESH, P(*spec)))


def lower(function: Callable[..., Any], *arguments: Argument) -> jax.stages.Lowered:
    """Lower the partitioned program."""
    traced = jax.jit(partial(function, _constrain)).trace(*(a.type() for a in arguments))
    return traced.lower(lowering_platforms=("cpu",))


def run_both(
    function: Callable[..., Any],
    *arguments: Argument,
    pipeline: str = "sdy-propagation-pipeline",
) -> Outcome:
    """Propagate, compile and run a program; run it on one device as well."""
    module = load(lower(function, *arguments))
    run_pipeline(module, pipeline)
    executable = compile_program(module, "cpu:8")
    random = np.random.default_rng(0)
    arrays = [random.normal(size=a.shape).astype(np.float32) for a in arguments]
    with jax.default_device(jax.devices("cpu")[0]):
        expected = jax.jit(partial(function, lambda x, *_: x))(*arrays)
    pairs = zip(executable(*arrays), jax.tree.leaves(expected), strict=True)
    return Outcome(executable, max(_difference(np.asarray(a), np.asarray(b)) for a, b in pairs))


def _difference(ours: np.ndarray, expected: np.ndarray) -> float:
    return float(np.max(np.abs(ours - expected)) / np.max(np.abs(expected)))
