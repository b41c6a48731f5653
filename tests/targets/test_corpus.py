"""The corpus of programs compiled ahead of time, and compared with XLA's own Shardy."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import sdy
from tests.corpus.jax_programs import PROGRAMS
from tests.targets.programs import COMPILED, EQUAL, TARGETS

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.filterwarnings("ignore:.*unknown to SDY")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", COMPILED)
def test_it_compiles(name: str, target: str) -> None:
    program = sdy.compile(sdy.propagate(PROGRAMS[name]()), target)
    assert "num_partitions=8" in program.hlo_text()


@pytest.mark.filterwarnings("ignore:.*unknown to SDY")
@pytest.mark.parametrize("target", TARGETS)
def test_collectives_are_those_of_xlas_shardy(target: str) -> None:
    command = [sys.executable, "-m", "tests.targets.shardy_path", target, *EQUAL]
    child = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stderr
    for name, line in zip(EQUAL, child.stdout.splitlines(), strict=True):
        program = sdy.compile(sdy.propagate(PROGRAMS[name]()), target)
        ours = Counter((c.kind, c.shape, c.groups) for c in program.collectives())
        theirs = Counter(
            (kind, shape, tuple(map(tuple, groups))) for kind, shape, groups in json.loads(line)
        )
        assert ours == theirs, name
