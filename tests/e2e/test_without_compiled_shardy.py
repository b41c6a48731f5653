"""The product gives its answers in a process in which jaxlib's compiled Shardy is out of reach."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.corpus.jax_programs import PROGRAMS

ROOT = Path(__file__).resolve().parents[2]

# Every pipeline that is handed to MLIR's pass manager is looked at in full, as MLIR prints it,
# with what it runs by default. The module's name is replaced before the product imports it.
GUARD = """
import re
from jaxlib.mlir import passmanager

Real = passmanager.PassManager
CANONICALIZE = re.compile(
    r"(?<![\\w-])canonicalize(?![\\w-])(\\{(?:[^{}]|\\{[^{}]*\\})*\\})?"
)

class Guarded:
    seen = []

    @staticmethod
    def parse(text, *context):
        manager = Real.parse(text, *context)
        whole = str(manager)
        Guarded.seen.append(whole)
        if "sdy-" in whole:
            raise SystemExit(f"compiled Shardy was called: {whole}")
        for options in CANONICALIZE.findall(whole):
            dialects = re.search(r"filter-dialects=\\{?([^ }]+)", options)
            if re.search("enable-patterns=\\{?none", options) or (
                dialects and "sdy" not in dialects[1]
            ):
                continue
            raise SystemExit(f"compiled patterns were called: {whole}")
        return manager

    def __new__(cls, *arguments):
        raise SystemExit("a pass manager was made without a pipeline")

passmanager.PassManager = Guarded
"""

PROGRAM = (
    GUARD
    + """
import sys
import sdy

for path in sys.argv[1:]:
    module = sdy.propagate(path)
    assert any(v.sharding and not v.sharding.is_fully_replicated for v in sdy.shardings(module))
    sdy.run_pipeline(module, "builtin.module(canonicalize, cse, inline, symbol-dce)")
    if "sdy." not in str(module).replace("sdy.sharding", "").replace("sdy.mesh", ""):
        sdy.to_gspmd(module)
assert Guarded.seen
print("done")
"""
)


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_product_needs_no_compiled_shardy(tmp_path: Path) -> None:
    # Lowered here: JAX itself calls a compiled pass.
    paths = []
    for name in ("train_step_scanned_with_remat", "branches", "nested_jit", "shard_map_partial"):
        paths.append(tmp_path / f"{name}.mlir")
        paths[-1].write_text(PROGRAMS[name](), encoding="utf-8")
    child = run(PROGRAM, *map(str, paths))
    assert child.returncode == 0, child.stderr
    assert child.stdout == "done\n"


def test_the_guard_notices() -> None:
    pipelines = (
        "builtin.module(sdy-close-shardings)",
        "builtin.module(canonicalize)",
        "builtin.module(inline)",
    )
    for pipeline in pipelines:
        child = run(
            GUARD
            + "from sdy.ir.context import make_context\n"
            + f"with make_context():\n    passmanager.PassManager.parse({pipeline!r})\n"
        )
        assert child.returncode == 1, pipeline
        assert "called" in child.stderr
