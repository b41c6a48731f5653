"""Programs of the corpus, compiled from our shardings or by XLA's own Shardy, to compare the two.

Each way runs in a process of its own: `compile_corpus` starts one with
`python -m tests.corpus.compiled WAY TARGET FOLDER NAME...`. Programs run where the devices are
there, on the same arrays.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jaxlib import xla_client

from sdy.compile.build import xla_options
from sdy.compile.compiler import compile as compile_program
from sdy.compile.executable import Executable
from sdy.compile.op_sharding import from_op_sharding
from sdy.compile.signature import ShardedType, Signature, read_signature
from sdy.compile.targets import backend_for
from sdy.dialect.hlo_sharding import HloSharding
from sdy.ir.bytecode import to_bytecode
from sdy.ir.load import load
from sdy.passes.gspmd.to_gspmd import to_gspmd
from tests.corpus.jax_programs import PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sdy.compile.backend import Compiled

__all__ = ["OURS", "SHARDY", "Outcome", "arguments", "compile_corpus"]

ROOT = Path(__file__).parents[2]

OURS, SHARDY = "ours", "shardy"

Collectives = Counter[tuple[str, str, str]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A compiled program.

    Attributes:
      collectives: how often each kind, shape and groups occurs; the name of a channel and the
        place in the program do not count.
      results: what it computed; empty where it cannot run.

    """

    collectives: Collectives
    results: list[np.ndarray]


def compile_corpus(
    way: str, target: str, names: Sequence[str], folder: Path
) -> Mapping[str, Outcome]:
    """Compile programs in a process of their own; return the outcome for each name.

    Args:
      way: OURS or SHARDY.
      target: as in `sdy.compile`.
      names: of programs of the corpus.
      folder: for the process to write to.

    """
    folder.mkdir()
    command = [sys.executable, "-W", "ignore", "-m", __name__, way, target, str(folder), *names]
    child = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stderr
    return {name: _read(folder / name) for name in names}


def _read(path: Path) -> Outcome:
    collectives = json.loads(path.with_suffix(".json").read_text())
    arrays = np.load(path.with_suffix(".npz"))
    return Outcome(Counter(map(tuple, collectives)), [arrays[name] for name in arrays.files])


def _write(path: Path, executable: Executable, results: Sequence[Any]) -> None:
    found = [(c.kind, c.shape, str(c.groups)) for c in executable.collectives()]
    path.with_suffix(".json").write_text(json.dumps(found))
    np.savez(path.with_suffix(".npz"), *map(np.asarray, results))


def _compiled_by_shardy(text: str, target: str) -> Executable:
    """Return the executable of a program that XLA's Shardy propagates and partitions."""
    backend = backend_for(target)
    options = xla_options(backend.devices)
    options.executable_build_options.use_shardy_partitioner = True
    devices = xla_client.DeviceList(backend.devices)
    module = load(text)
    compiled: Compiled
    if backend.is_here:
        compiled = backend.client.compile_and_load(to_bytecode(module), devices, options)
    else:
        compiled = backend.client.compile(
            module, executable_devices=devices, compile_options=options
        )
    [hlo] = compiled.hlo_modules()
    types = read_signature(to_gspmd(load(text)), len(backend.devices))
    signature = Signature(
        _with_shardings(types.arguments, map(from_op_sharding, hlo.spmd_parameters_shardings)),
        _with_shardings(types.results, _leaves(from_op_sharding(hlo.spmd_output_sharding))),
    )
    return Executable(signature, compiled, backend)


def _with_shardings(types: Sequence[ShardedType], shardings: Any) -> tuple[ShardedType, ...]:
    return tuple(
        ShardedType(each.shape, each.dtype, sharding)
        for each, sharding in zip(types, shardings, strict=True)
    )


def _leaves(sharding: HloSharding) -> tuple[HloSharding, ...]:
    return sharding.elements or (sharding,)


def arguments(name: str, types: Sequence[ShardedType]) -> list[np.ndarray]:
    """Return arrays for a program, always the same."""
    random = np.random.default_rng(0)
    arrays = [_array(each, random) for each in types]
    if name == "linear_algebra":
        # Cholesky's decomposition wants a positive definite matrix.
        arrays[0] = arrays[0] @ arrays[0].swapaxes(1, 2) + 16 * np.eye(16, dtype=np.float32)
    return arrays


def _array(wanted: ShardedType, random: np.random.Generator) -> np.ndarray:
    if jnp.issubdtype(wanted.dtype, np.floating):
        return random.normal(size=wanted.shape).astype(wanted.dtype)
    return random.integers(0, 2 if not wanted.shape else 32, wanted.shape).astype(wanted.dtype)


def main() -> None:
    """Compile and run the programs that are named."""
    way, target, folder, *names = sys.argv[1:]
    for name in names:
        text = PROGRAMS[name]()
        make = compile_program if way == OURS else _compiled_by_shardy
        executable = make(text, target)
        taken = arguments(name, executable.signature.arguments)
        _write(Path(folder) / name, executable, executable(*taken) if _is_here(target) else ())


def _is_here(target: str) -> bool:
    return backend_for(target).is_here


if __name__ == "__main__":
    main()
