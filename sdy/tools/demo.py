"""The main job, end to end: a transformer's train step, sharded, compiled and run.

Run it with `python -m sdy.tools.demo`. It lowers the step with JAX, propagates its few
shardings, exports them to GSPMD, compiles the program for eight virtual CPU devices, and
compares what it computes with what JAX computes on one device.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from rich.console import Console
from rich.table import Table

from sdy.compile.compiler import compile as compile_program
from sdy.dialect.errors import Error
from sdy.ir.indexed_module import IndexedModule
from sdy.ir.load import load
from sdy.ir.shardings import shardings
from sdy.passes.pipeline import run_pipeline
from sdy.tools.demo_model import MESH, Size, example_arrays, lower_train_step, train_step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from jaxlib.mlir import ir

    from sdy.compile.collectives import Collective
    from sdy.compile.signature import ShardedType

__all__ = ["DemoError", "Report", "check", "main", "propagate", "run"]

DEVICES = MESH.size
TOLERANCE = 1e-4


class DemoError(Error):
    """The demo ran, but what came out is not what it is to show."""


@dataclass(frozen=True, slots=True)
class Report:
    """What the demo measured.

    Attributes:
      ops: the number of ops in the program.
      tensors: the number of arguments, results and values in it.
      sharded_before: of those, how many are split before propagation.
      sharded_after: how many are split after it.
      collectives: of the compiled program.
      distinct_shards: how many of the devices hold results that no other device holds.
      difference: the largest difference to one device's results, relative to the largest
        number of the tensor.
      seconds: the time of each stage.

    """

    ops: int
    tensors: int
    sharded_before: int
    sharded_after: int
    collectives: tuple[Collective, ...]
    distinct_shards: int
    difference: float
    seconds: dict[str, float] = field(compare=False)


def propagate(module: ir.Module) -> None:
    """Propagate shardings through a module, in place."""
    run_pipeline(module, "sdy-propagation-pipeline")


def run(size: Size, propagate: Callable[[ir.Module], object] = propagate) -> Report:
    """Run the demo, with that way to propagate, and return what came out."""
    seconds: dict[str, float] = {}
    with _timed("lower with JAX", seconds):
        module = load(lower_train_step(size))
    ops, tensors, sharded_before = _count_ops(module), *_count_tensors(module)
    with _timed("propagate", seconds):
        propagate(module)
    _, sharded_after = _count_tensors(module)
    with _timed("export and compile", seconds):
        executable = compile_program(module, f"cpu:{DEVICES}")
    parameters, tokens = example_arrays(size)
    arguments = jax.tree.leaves((parameters, tokens))
    with _timed("run on 8 devices", seconds):
        results = jax.block_until_ready(executable(*arguments))
    with _timed("compile and run on 1 device", seconds), _one_cpu_device():
        expected = jax.block_until_ready(jax.jit(train_step)(parameters, tokens))
    return Report(
        ops=ops,
        tensors=tensors,
        sharded_before=sharded_before,
        sharded_after=sharded_after,
        collectives=executable.collectives(),
        distinct_shards=_distinct_shards(executable.signature.results),
        difference=_difference(results, jax.tree.leaves(expected)),
        seconds=seconds,
    )


@contextmanager
def _timed(stage: str, seconds: dict[str, float]) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds[stage] = time.perf_counter() - start


def _one_cpu_device() -> Any:
    return jax.default_device(jax.devices("cpu")[0])


def _count_ops(module: ir.Module) -> int:
    return len(IndexedModule(module).in_order)


def _count_tensors(module: ir.Module) -> tuple[int, int]:
    """Return the number of values, and of those that are split."""
    found = shardings(module)
    split = [v for v in found if v.sharding and not v.sharding.is_fully_replicated]
    return len(found), len(split)


def _distinct_shards(results: Sequence[ShardedType]) -> int:
    held = Counter(
        tuple(str(value.sharding.device_slices(value.shape, DEVICES)[device]) for value in results)
        for device in range(DEVICES)
    )
    return sum(count == 1 for count in held.values())


def _difference(results: Sequence[jax.Array], expected: Sequence[jax.Array]) -> float:
    pairs = [(np.asarray(a), np.asarray(b)) for a, b in zip(results, expected, strict=True)]
    return max(float(np.max(np.abs(a - b)) / np.max(np.abs(b))) for a, b in pairs)


def check(report: Report) -> None:
    """Raise DemoError unless the step was split over all devices and its numbers are right."""
    # Written so that a difference that is no number fails too.
    if not report.difference <= TOLERANCE:
        raise DemoError(f"the results differ by {report.difference:.1e}, more than {TOLERANCE}")
    if not report.collectives:
        raise DemoError("the compiled program has no collectives")
    if report.distinct_shards < DEVICES:
        raise DemoError(
            f"only {report.distinct_shards} of {DEVICES} devices hold results of their own"
        )


def render(report: Report) -> Table:
    """Return the report as a table."""
    table = Table(title="A transformer's train step on 8 devices", show_header=False)
    table.add_column(style="bold")
    table.add_column(justify="right")
    table.add_row("mesh", " x ".join(f"{name}={size}" for name, size in MESH.shape.items()))
    table.add_row("ops", str(report.ops))
    table.add_row("tensors", str(report.tensors))
    table.add_row("sharded before propagation", str(report.sharded_before))
    table.add_row("sharded after propagation", str(report.sharded_after))
    for stage, seconds in report.seconds.items():
        table.add_row(f"time: {stage}", f"{seconds:.3f} s")
    for kind, count in sorted(Counter(c.kind for c in report.collectives).items()):
        table.add_row(f"collectives: {kind}", str(count))
    table.add_row("devices with shards of their own", f"{report.distinct_shards} of {DEVICES}")
    table.add_row("largest relative difference", f"{report.difference:.1e}")
    return table


def main() -> int:
    """Run the demo, print its report, and return the exit status."""
    try:
        report = run(Size())
        Console().print(render(report))
        check(report)
    except Error as error:
        print(f"demo failed: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
