"""Configuration of lit: the suite is one folder a room, each test with its own RUN lines.

Run by `test_lit.py`, or by hand from the root of the repository: `lit -v tests/lit`.
"""

# ruff: noqa: F821
# mypy: ignore-errors

import shlex
import sys
import tempfile
from pathlib import Path

import lit.formats

_HERE = Path(__file__).resolve().parent
_WORD = r"(?<![\w./-]){}(?![\w./-])"

config.name = "sdy"
config.suffixes = [".mlir"]
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = str(_HERE)
config.test_exec_root = lit_config.params.get("output") or tempfile.mkdtemp(prefix="sdy-lit-")
config.environment["PYTHONPATH"] = str(_HERE.parents[1])
_PYTHON = shlex.quote(sys.executable)
config.substitutions += [
    (_WORD.format("sdy-opt"), f"{_PYTHON} -m sdy.tools.sdy_opt"),
    (_WORD.format("filecheck"), f"{_PYTHON} -m filecheck"),
]
