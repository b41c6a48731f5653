"""Runs the lit suite, a folder at a time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_HERE = Path(__file__).resolve().parent
_FOLDERS = sorted({path.parent for path in _HERE.rglob("*.mlir")})


@pytest.mark.parametrize("folder", _FOLDERS, ids=lambda folder: str(folder.relative_to(_HERE)))
def test_folder(folder: Path, tmp_path: Path) -> None:
    run = subprocess.run(
        [
            *(sys.executable, "-c", "from lit.main import main; main()"),
            *("-v", "-j", "2", "--param", f"output={tmp_path}", str(folder)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
