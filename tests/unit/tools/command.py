"""Runs sdy-opt as a user does: in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def sdy_opt(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    run = subprocess.run(
        [sys.executable, "-m", "sdy.tools.sdy_opt", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        cwd=ROOT,
        check=False,
        timeout=120,
    )
    return subprocess.CompletedProcess(
        run.args,
        run.returncode,
        run.stdout.decode("utf-8", "backslashreplace"),
        run.stderr.decode("utf-8", "backslashreplace"),
    )
