"""The command line of sdy-explain, as a user meets it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import sdy
from sdy.tools.explain_flags import Question, parse_arguments
from tests.unit.explain.programs import CONSTRAINED, MLP
from tests.unit.tools.command import ROOT


def sdy_explain(*arguments: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sdy.tools.sdy_explain", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        cwd=ROOT,
        check=False,
        timeout=120,
        encoding="utf-8",
    )


@pytest.fixture
def mlp(tmp_path: Path) -> Path:
    path = tmp_path / "mlp.mlir"
    path.write_text(MLP, encoding="utf-8")
    return path


def test_the_overview_is_printed(mlp: Path) -> None:
    run = sdy_explain(mlp)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == f"{sdy.explain(MLP)}\n"
    assert "mesh @mesh: data=2 x model=4, 8 devices" in run.stdout


def test_questions_are_answered_in_order(mlp: Path) -> None:
    explanation = sdy.explain(MLP)
    run = sdy_explain(mlp, "--why=%2:0", "--why", "down:0:model", "--placement=%arg0")
    answers = run.stdout.split("\n\n")
    assert answers[0] == str(explanation.why("%2", 0))
    assert answers[1] == str(explanation.why("%arg2", 0, "model"))
    assert answers[2].startswith("%arg0 (x): tensor<16x32xf32>")
    assert "[0:8] │ 0-3 │" in answers[2]


def test_times_are_told_for_a_topology(mlp: Path) -> None:
    run = sdy_explain(mlp, "--topology=v5e:2x4")
    assert (run.returncode, run.stderr) == (0, "")
    assert ", on v5e:2x4" in run.stdout
    assert " us" in run.stdout


def test_annotations_are_suggested(mlp: Path) -> None:
    run = sdy_explain(mlp, "--suggest")
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("Suggestions, each tried")


def test_json_goes_to_a_file(mlp: Path, tmp_path: Path) -> None:
    output = tmp_path / "mlp.json"
    run = sdy_explain(mlp, "--format=json", "-o", output)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    assert json.loads(output.read_text(encoding="utf-8"))["version"] == 1


def test_a_page_goes_to_a_file(mlp: Path, tmp_path: Path) -> None:
    output = tmp_path / "mlp.html"
    run = sdy_explain(mlp, "--format=html", "-o", output)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    assert output.read_text(encoding="utf-8").lower().startswith("<!doctype html>")


def test_what_is_no_regular_file_is_written_itself_and_stays(mlp: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        run = sdy_explain(mlp, "-o", pipe)
        assert (run.returncode, run.stderr) == (0, "")
        assert os.read(reader, 7) == b"Program"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_a_link_to_a_file_stays_a_link(mlp: Path, tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("from before")
    link.symlink_to(target)
    assert sdy_explain(mlp, "-o", link).returncode == 0
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8").startswith("Program")


def test_a_file_whose_name_is_not_utf8_is_read(mlp: Path, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff.mlir")
    path.write_bytes(mlp.read_bytes())
    run = sdy_explain(path)
    assert (run.returncode, run.stderr) == (0, "")


def test_two_programs_are_compared(mlp: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.mlir"
    other.write_text(MLP.replace('{"model"}', '{"model":(1)2}'), encoding="utf-8")
    run = sdy_explain("--diff", mlp, other)
    assert run.returncode == 0
    assert '~ %arg1 (up): <@mesh, [{}, {"model"}]> -> ' in run.stdout


def test_standard_input_is_read() -> None:
    run = sdy_explain("--why=%1", stdin=CONSTRAINED)
    assert run.returncode == 0
    assert "by sharding constraint on %1 at model.py:7" in run.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--why=%9"], "sdy-explain: error: no value '%9' in function @main"),
        (["--why=%0:5"], "sdy-explain: error: %0 has 2 dimensions, no dimension 5"),
        (["--why=%0:0:modle"], "sdy-explain: error: no axis 'modle'; did you mean 'model'?"),
        (["--placement=%9"], "sdy-explain: error: no value '%9' in function @main"),
        (["--format=yaml"], "sdy-explain: error: argument --format: invalid choice: 'yaml'"),
        (["--top=-1"], "sdy-explain: error: argument --top: expected a number, got '-1'"),
        (["--frobnicate"], "sdy-explain: error: unrecognized arguments: --frobnicate"),
        (["--why="], "sdy-explain: error: flag '--why': expected VALUE[:DIM[:AXIS]], got ''"),
        (["--diff", "a", "b"], "sdy-explain: error: --diff takes both of its files"),
        (["--topology=v9:2x4"], "sdy-explain: error: "),
        (
            ["--why=%1", "--topology=v5e:2x4"],
            "sdy-explain: error: --why and --placement tell no costs: leave --topology out",
        ),
        (
            ["-o", "/nowhere/x"],
            "sdy-explain: error: cannot write '/nowhere/x': there is no directory",
        ),
    ],
)
def test_wrong_arguments_are_told(mlp: Path, arguments: list[str], message: str) -> None:
    run = sdy_explain(mlp, *arguments)
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.startswith(message)
    assert run.stderr.count("\n") == 1


def test_what_is_wrong_with_the_program_is_told_where_it_is(tmp_path: Path) -> None:
    run = sdy_explain(stdin='sdy.mesh @m = <["x"=2, "x"=4]>\n')
    assert run.returncode == 1
    assert run.stderr.splitlines() == [
        "<stdin>:1:15: error: custom op 'sdy.mesh' duplicate axis name: \"x\"",
        'sdy.mesh @m = <["x"=2, "x"=4]>',
        "              ^",
    ]
    run = sdy_explain(tmp_path / "missing.mlir")
    assert run.returncode == 1
    assert run.stderr == f"{tmp_path}/missing.mlir: error: cannot read: No such file or directory\n"


def test_warnings_of_propagation_are_told(tmp_path: Path) -> None:
    path = tmp_path / "unknown.mlir"
    path.write_text(
        "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
        "  %0 = stablehlo.custom_call @mystery(%x) : (tensor<8xf32>) -> tensor<8xf32>\n"
        "  return %0 : tensor<8xf32>\n}\n",
        encoding="utf-8",
    )
    run = sdy_explain(path)
    assert run.returncode == 0
    assert f"{path}:2:8: warning: custom call @mystery is unknown" in run.stderr


def test_warnings_that_are_to_come_from_xla_are_told(tmp_path: Path) -> None:
    path = tmp_path / "moved.mlir"
    path.write_text(
        'sdy.mesh @mesh = <["data"=2, "model"=4]>\n'
        "func.func @main(\n"
        '    %w: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>})\n'
        '    -> (tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}) {\n'
        "  return %w : tensor<64x128xf32>\n}\n",
        encoding="utf-8",
    )
    warning = f"{path}:5:3: warning: XLA gathers all of f32[64,128]"
    assert f"Warnings that are to come from XLA\n  {warning}" in sdy_explain(path).stdout
    assert sdy_explain(path, "--format=json").stderr.startswith(warning)


def test_progress_is_shown_on_a_terminal_only(mlp: Path) -> None:
    terminal, end = pty.openpty()
    command = [sys.executable, "-m", "sdy.tools.sdy_explain", str(mlp)]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "200"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=end, cwd=ROOT, env=environment, text=True
    ) as child:
        os.close(end)
        assert child.stdout is not None
        output = child.stdout.read()
        assert child.wait(timeout=120) == 0
    shown = b""
    try:
        while chunk := os.read(terminal, 4096):
            shown += chunk
    except OSError:  # The other end is closed.
        pass
    os.close(terminal)
    assert "Program" in output
    assert "\x1b" not in output
    assert f"Propagating {mlp}".encode() in shown


def test_help_and_version_are_printed() -> None:
    assert sdy_explain("--help").stdout.startswith("usage: sdy-explain")
    assert sdy_explain("--version").stdout.startswith("sdy ")


def test_help_that_cannot_be_written_is_an_error() -> None:
    command = f"exec {sys.executable} -m sdy.tools.sdy_explain --help >/dev/full"
    run = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert run.returncode == 1
    assert run.stderr == (
        "sdy-explain: error: cannot write to standard output: No space left on device\n"
    )


def test_questions_are_read() -> None:
    texts = ("%0", "%0:1", "@f:%0:1:model", 'x:0:"model":(1)2', "params['a:b']")
    options = parse_arguments([f"--why={text}" for text in texts])
    assert options.why == (
        Question("%0"),
        Question("%0", 1),
        Question("@f:%0", 1, "model"),
        Question("x", 0, '"model":(1)2'),
        Question("params['a:b']"),
    )
