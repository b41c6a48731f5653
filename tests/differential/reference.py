"""The reference: the compiled Shardy inside jaxlib, in a child process that may die.

The child reads one JSON request a line, `{"program": ..., "pipeline": ...}`, and answers with
one JSON line. A child that dies is replaced at the next request.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from jaxlib.mlir import ir, passmanager

from sdy.ir.context import make_context
from tests.differential.use_lists import UseLists, use_lists

__all__ = ["Reference", "Snapshot", "snapshot"]

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A module after a pipeline.

    Attributes:
      text: the module with locations; empty where the pipeline failed.
      uses: the uses of every value, newest first.
      error: the message of a failure; empty where all went well.

    """

    text: str
    uses: UseLists
    error: str = ""


def snapshot(module: ir.Module) -> Snapshot:
    """Return the text of a module and the order of all uses in it."""
    return Snapshot(module.operation.get_asm(enable_debug_info=True), use_lists(module))


class Reference:
    """A client of the child process; close it, or use it with `with`."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child."""
        if self._child is not None:
            with suppress(BrokenPipeError):
                self._child.communicate()
            self._child = None

    def run(self, program: str, pipeline: str) -> Snapshot:
        """Run `pipeline`, such as `builtin.module(sdy-close-shardings)`, on MLIR text."""
        if self._child is None:
            self._child = _start()
        stdin, stdout = self._child.stdin, self._child.stdout
        assert stdin is not None
        assert stdout is not None
        with suppress(BrokenPipeError):
            stdin.write(json.dumps({"program": program, "pipeline": pipeline}) + "\n")
            stdin.flush()
        answer = stdout.readline()
        if not answer:
            status = self._child.wait()
            self._child = None
            return Snapshot("", [], f"the reference died with status {status}")
        return Snapshot(**json.loads(answer))


def _start() -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.differential.reference"]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, cwd=ROOT
    )


def _answer(request: dict[str, str]) -> dict[str, Any]:
    with make_context(), ir.Location.unknown():
        try:
            module = ir.Module.parse(request["program"])
            passmanager.PassManager.parse(request["pipeline"]).run(module.operation)
        except (ir.MLIRError, ValueError) as error:
            return {"text": "", "uses": [], "error": str(error) or "failed"}
        after = snapshot(module)
        return {"text": after.text, "uses": after.uses}


def _serve() -> None:
    for line in sys.stdin:
        print(json.dumps(_answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    _serve()
