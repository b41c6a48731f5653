"""What XLA's partitioner makes of programs: collectives, memory, and the warnings that it logs.

XLA logs to the process' standard error. So a child compiles,
`python -m tests.corpus.partitioned TARGET`: it reads a JSON list of modules, and writes one line
of JSON for each.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from sdy.compile.compiler import compile as compile_program
from sdy.dialect.hlo_sharding import HloSharding
from sdy.ir.load import load

__all__ = ["Partitioned", "partition"]

ROOT = Path(__file__).parents[2]
WARNING = re.compile(
    r"Involuntary full rematerialization.*? from sharding (?P<from>\{.*?\}) to (?P<to>\{.*?\})"
    r" efficiently for HLO operation"
)

Reshards = Counter[tuple[HloSharding, HloSharding]]


@dataclass(frozen=True, slots=True)
class Partitioned:
    """What XLA made of a program.

    Attributes:
      bytes: of the results of all collectives on one device, by kind.
      warnings: the reshards of which it warned, from and to.
      memory: the bytes that one device needs, without code.

    """

    bytes: Counter[str]
    warnings: Reshards
    memory: int


def partition(modules: Sequence[str], target: str = "cpu:8") -> list[Partitioned]:
    """Compile propagated modules in a child process; return what XLA made of each."""
    command = [sys.executable, "-W", "ignore", "-m", __name__, target]
    child = subprocess.run(
        command,
        cwd=ROOT,
        input=json.dumps(list(modules)),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "1"},
    )
    assert child.returncode == 0, child.stderr
    return [_read(json.loads(line)) for line in child.stdout.splitlines()]


def _read(answer: dict[str, Any]) -> Partitioned:
    pairs = (tuple(HloSharding.parse(text).canonical() for text in p) for p in answer["warnings"])
    return Partitioned(Counter(answer["bytes"]), Counter(pairs), answer["memory"])  # type: ignore[arg-type]


@contextmanager
def _standard_error(file: IO[str]) -> Iterator[None]:
    """Let all that the process writes to standard error go to a file, XLA's messages too."""
    kept = os.dup(2)
    os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _answer(module: str, target: str, log: IO[str]) -> dict[str, Any]:
    start = log.seek(0, os.SEEK_END)
    with _standard_error(log):
        program = compile_program(load(module), target)
    log.seek(start)
    found: Counter[str] = Counter()
    for collective in program.collectives():
        found[collective.kind] += collective.bytes
    memory = program.memory()
    return {
        "bytes": found,
        "warnings": [(m["from"], m["to"]) for m in WARNING.finditer(log.read())],
        "memory": memory.total - memory.code,
    }


def main(write: Callable[[str], object] = print) -> None:
    """Answer for all modules."""
    with tempfile.TemporaryFile("w+") as log:
        for module in json.load(sys.stdin):
            write(json.dumps(_answer(module, sys.argv[1], log)))


if __name__ == "__main__":
    main()
