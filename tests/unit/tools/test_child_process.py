"""Work in a child process, and what the parent learns of its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tests.unit.tools.command import ROOT

PRELUDE = """
import os, signal, sys
from sdy.tools.child_process import limited_cpu_time, run_in_child
from sdy.tools import sdy_opt

def forever():
    with limited_cpu_time(0.1):
        while True: pass

def deep(levels=20_000):
    def descend(n): return 0 if n == 0 else descend(n - 1)
    sys.setrecursionlimit(levels * 2)
    return descend(levels)
"""


def result(expression: str) -> str:
    """Return what an expression prints in a process of its own, where forking is safe."""
    run = subprocess.run(
        [sys.executable, "-c", f"{PRELUDE}\nprint({expression})"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    return run.stdout.strip() + run.stderr.strip()


@pytest.mark.parametrize("status", [0, 1, 7])
def test_the_status_of_the_work(status: int) -> None:
    assert result(f"run_in_child(lambda: {status})") == str(status)


def test_a_signal_gives_its_negative_number() -> None:
    kill = "run_in_child(lambda: os.kill(os.getpid(), signal.SIGSEGV))"
    assert result(kill) == str(-signal.SIGSEGV)


def test_work_without_end_is_ended() -> None:
    assert result("run_in_child(forever)") == str(-signal.SIGVTALRM)


def test_the_stack_is_big() -> None:
    assert result("run_in_child(deep)") == "0"


def test_a_signal_is_an_error_of_the_command() -> None:
    patched = (
        "[setattr(sdy_opt, 'run_in_child', lambda work: -signal.SIGSEGV),"
        " sdy_opt.main(['in.mlir'])][-1]"
    )
    said = result(patched)
    assert said.startswith("1")
    assert "in.mlir: error: MLIR was killed by SIGSEGV" in said


def test_an_interrupt_ends_the_child(tmp_path: os.PathLike[str]) -> None:
    fifo = os.path.join(tmp_path, "never-written")
    os.mkfifo(fifo)
    command = [sys.executable, "-m", "sdy.tools.sdy_opt", fifo]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE)
    # This blocks until the child opens the other end; it then waits for text that never comes.
    with open(fifo, "wb"):
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
    assert process.stderr is not None
    assert process.stderr.read() == b""
