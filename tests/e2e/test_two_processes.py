"""A program of two processes with four CPU devices each computes what it does in one with eight."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sdy
from sdy.compile.executable import Executable
from tests.e2e.one_of_two_processes import W, X, lower, run

ROOT = Path(__file__).resolve().parents[2]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, np.ndarray]]:
    """What each of the two processes saw."""
    folder = tmp_path_factory.mktemp("two_processes")
    module = "tests.e2e.one_of_two_processes"
    command = [sys.executable, "-W", "ignore", "-m", module, f"127.0.0.1:{free_port()}"]
    children = [
        subprocess.Popen(
            [*command, str(index), str(folder)], cwd=ROOT, stderr=subprocess.PIPE, text=True
        )
        for index in range(2)
    ]
    try:
        errors = [child.communicate(timeout=120)[1] for child in children]
    finally:
        for child in children:
            child.kill()
    assert [child.returncode for child in children] == [0, 0], "\n".join(errors)
    return [dict(np.load(folder / f"results{index}.npz")) for index in range(2)]


@pytest.fixture(scope="module")
def program() -> Executable:
    return sdy.compile(lower(), "cpu:8")


def test_two_processes_compute_what_one_does(
    theirs: list[dict[str, np.ndarray]], program: Executable
) -> None:
    weights, uneven = run(program)
    for results in theirs:
        np.testing.assert_allclose(results["uneven"], uneven, rtol=1e-6)
    # JAX numbers the devices of the second process behind those of the first, with a gap.
    parts = [
        array
        for results in theirs
        for name, array in sorted(results.items())
        if name.startswith("part")
    ]
    assert len(parts) == 8
    for mine, shard in zip(parts, weights.addressable_shards, strict=True):
        np.testing.assert_allclose(mine, shard.data, rtol=1e-6)


def test_an_array_of_both_processes_is_laid_out_as_the_program_takes_it(
    theirs: list[dict[str, np.ndarray]], program: Executable
) -> None:
    state, _ = program({"w": W}, X)
    expected = state["w"].addressable_shards[0].data
    np.testing.assert_allclose(theirs[0]["moved"], expected, rtol=1e-6)
