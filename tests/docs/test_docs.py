"""Every code block of README and docs is run, and gives what stands below it.

Blocks of a page run in order in one folder. ```` ```mlir name.mlir ```` writes a file;
```` ```python ```` runs, in one namespace a page; ```` ```console ```` runs each line after `$ `
and compares what it prints, where `...` stands for anything; ```` ```output ```` is what the
Python block before it prints; ```` ```text ```` is shown, not run. There are no others.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import sdy

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page."""

    language: str
    title: str
    body: str


def blocks(page: Path) -> list[Block]:
    found = []
    for match in BLOCK.finditer(page.read_text(encoding="utf-8")):
        language, _, title = match["info"].strip().partition(" ")
        found.append(Block(language, title, match["body"]))
    return found


def matches(expected: str, actual: str) -> bool:
    """Return whether `actual` is `expected`, in which `...` stands for anything."""
    parts = [re.escape(part) for part in expected.strip().split("...")]
    return re.fullmatch("(?s:.*)".join(parts), actual.strip()) is not None


def check(expected: str, actual: str) -> None:
    assert matches(expected, actual), f"expected:\n{expected}\ngot:\n{actual}"


def run_console(body: str, folder: Path) -> None:
    for session in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, _, expected = session.partition("\n")
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
        tools = shlex.join([sys.executable, "-m", "sdy.tools.sdy_"])
        run = subprocess.run(
            re.sub(r"(^|\| )sdy-(opt|explain)\b", rf"\1{tools}\2", command),
            shell=True,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        check(expected, run.stdout + run.stderr)


def run_python(body: str, namespace: dict[str, object]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(body, "<docs>", "exec"), namespace)
    return printed.getvalue()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    printed = ""
    # Rules that one page registers are not there for the next.
    with sdy.rule_scope():
        for block in blocks(page):
            match block.language:
                case "mlir" if block.title:
                    (tmp_path / block.title).write_text(block.body, encoding="utf-8")
                case "python":
                    printed = run_python(block.body, namespace)
                case "output":
                    check(block.body, printed)
                case "console":
                    run_console(block.body, tmp_path)
                case language:
                    assert language == "text", f"neither run nor marked text:\n{block.body}"


def test_a_wrong_output_is_noticed() -> None:
    assert matches("a ... c", "a b c")
    assert not matches("a c", "a b c")


def test_the_page_of_passes_is_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("write_passes", ROOT / "docs/write_passes.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text(encoding="utf-8") == module.page(), "run docs/write_passes.py"
