"""Whatever is fed to sdy-opt: a located message, exit status 1, no traceback, no output file."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.unit.tools.command import ROOT, sdy_opt

if TYPE_CHECKING:
    from pathlib import Path

MESH = 'sdy.mesh @mesh = <["x"=4, "y"=2]>\n'
VALID = (
    MESH + "func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> { return %a : tensor<8x8xf32> }"
)


def sharded(sharding: str, type_: str = "tensor<8x8xf32>") -> str:
    """A program whose argument has that sharding; the function is on line 2."""
    argument = f"%a: {type_} {{sdy.sharding = #sdy.sharding<{sharding}>}}"
    return f"{MESH}func.func @main({argument}) {{ return }}"


# Each input with the place and the text of the message.
TEXTS = {
    "cut off": (VALID[:100], "2:66", "invalid SSA name"),
    "unknown mesh": (sharded("@other, [{}, {}]"), "2:1", "unknown mesh: @other"),
    "unknown axis": (sharded('@mesh, [{"z"}, {}]'), "2:1", 'unknown axis name: "z"'),
    "axis twice": (sharded('@mesh, [{"x"}, {"x"}]'), "2:1", 'duplicate axis ref: "x"'),
    "overlapping sub-axes": (
        sharded('@mesh, [{"x":(1)4}, {"x":(2)2}]'),
        "2:1",
        "overlapping",
    ),
    "sub-axis too big": (sharded('@mesh, [{"x":(1)8}, {}]'), "2:1", "sub-axis"),
    "rank mismatch": (sharded("@mesh, [{}]"), "2:1", "sharding doesn't match tensor rank: 1 != 2"),
    "priority of an empty closed dimension": (sharded("@mesh, [{}p1, {}]"), "2:1", "priority"),
    "syntax of a sharding": (sharded('@mesh, [{"x"; {}]'), "2:76", "unbalanced"),
    "sharding of no tensor": (sharded("@mesh, [{}]", "!stablehlo.token"), "2:1", "rank"),
    "axis of size zero": ('sdy.mesh @mesh = <["x"=0]>', "1:20", "axis size must be at least 1"),
    "device ids that do not fit": (
        'sdy.mesh @mesh = <["x"=2], device_ids=[0]>',
        "1:18",
        "total product of axis sizes must match total number of device ids",
    ),
    "unregistered dialect": ('"no.such"() : () -> ()', "1:10", "unregistered dialect"),
    "wrong types": (
        "func.func @f(%a: tensor<2xf32>, %b: tensor<3xf32>) {\n"
        '  %0 = "stablehlo.add"(%a, %b) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>\n'
        "  return\n}",
        "2:8",
        "stablehlo.add",
    ),
    "symbol twice": ("func.func @f() { return }\nfunc.func @f() { return }", "2:1", "redefinition"),
    "undefined value": ("func.func @f() {\n  return %x : f32\n}", "2:10", "undeclared SSA value"),
    "empty file": ("", "1:1", "expected a module, found an empty file"),
    "only blanks": ("\n  \n", "1:1", "expected a module, found an empty file"),
    "prose": ("It was a dark and stormy night.", "1:1", "custom op 'It' is unknown"),
    "10,000 nested regions": ("module {" * 10_000 + "}" * 10_000, "1:40008", "nested more than"),
    "10,000 regions cut off": ("\n" + "module {" * 10_000, "2:40008", "nested more than"),
    "100,000 brackets": ("module attributes {sdy.x = " + "[" * 100_000, "1:5027", "nested"),
}

BYTES = {
    "binary rubbish": (bytes(range(256)) * 40, r":1:\d+: error: |:2:\d+: error: "),
    "not UTF-8": (b'module attributes {sdy.x = "caf\xe9"} {}', ":1:32: error: expected UTF-8"),
    "UTF-16": (VALID.encode("utf-16"), ":1:1: error: expected UTF-8"),
    "bytecode of nothing": (b"ML\xefR", ": error: "),
    "bytecode of a future version": (b"ML\xefR\xff" * 10, ": error: "),
    "artifact of rubbish": (b"ML\xefR\x0dStableHLO_v1.9.0\x00" + b"\x07" * 50, ": error: "),
}


def assert_refused(run_arguments: list[str | Path], output: Path) -> str:
    run = sdy_opt(*run_arguments, "-o", output)
    assert run.returncode == 1
    assert run.stdout == ""
    assert "Traceback" not in run.stderr
    assert "internal error" not in run.stderr
    assert not output.exists()
    assert [path.name for path in output.parent.glob("*.tmp")] == []
    return run.stderr


@pytest.mark.parametrize("kind", TEXTS)
def test_text(kind: str, tmp_path: Path) -> None:
    text, place, message = TEXTS[kind]
    source = tmp_path / "in.mlir"
    source.write_text(text)
    said = assert_refused([source], tmp_path / "out.mlir")
    assert said.startswith(f"{source}:{place}: error: "), said
    assert message in said


@pytest.mark.parametrize("kind", BYTES)
def test_bytes(kind: str, tmp_path: Path) -> None:
    data, message = BYTES[kind]
    source = tmp_path / "in.mlir"
    source.write_bytes(data)
    said = assert_refused([source], tmp_path / "out.mlir")
    assert re.match(re.escape(str(source)) + f"(?:{message})", said), said


def test_corrupt_bytecode_is_an_error_though_it_may_kill_mlir(tmp_path: Path) -> None:
    good = tmp_path / "good.mlirbc"
    assert sdy_opt("-", "--emit-bytecode", "-o", good, stdin=VALID.encode()).returncode == 0
    data = good.read_bytes()
    for number, cut in enumerate((data[: len(data) // 2], data[:-3], data[:40] + data[60:])):
        source = tmp_path / f"{number}.mlirbc"
        source.write_bytes(cut)
        said = assert_refused([source], tmp_path / "out.mlir")
        assert said.startswith(f"{source}: error: ")


def test_bytecode_with_wrong_bytes_is_an_error_or_another_program(tmp_path: Path) -> None:
    source = tmp_path / "mutated.mlirbc"
    assert sdy_opt("-", "--emit-bytecode", "-o", source, stdin=VALID.encode()).returncode == 0
    data = source.read_bytes()
    for offset in range(24, len(data), len(data) // 8):
        source.write_bytes(data[:offset] + bytes([data[offset] ^ 0xFF]) + data[offset + 1 :])
        run = sdy_opt(source)
        assert run.returncode in (0, 1)
        assert "Traceback" not in run.stderr
        assert (run.returncode == 0) == (run.stderr == "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sdy-no-such-pass"], "unknown pass 'sdy-no-such-pass'"),
        (["--sdy-basic-propagat"], "did you mean 'sdy-basic-propagate'?"),
        (["--symbol-dc"], "unknown pass 'symbol-dc'; did you mean 'symbol-dce'?"),
        (["--split-inputfile"], "did you mean '--split-input-file'?"),
        (["--cse=no=1"], "pass 'cse' has no option 'no'"),
        (["--sdy-basic-propagate=keep-rules=1"], "has no option 'keep-rules'"),
        (
            ["--sdy-basic-propagate=keep-sharding-rules=maybe"],
            "expected true or false, got 'maybe'",
        ),
        (["--pass-pipeline=builtin.module(cse"], "pass pipeline:1:15: error: expected ')'"),
        (["--pass-pipeline=builtin.module(func.func(sdy-close-shardings))"], "runs on"),
        (["--pass-pipeline=func.func(cse)"], "cannot start with 'func.func(...)'"),
        (["--pass-pipeline=builtin.module(cse)", "--cse"], "cannot be used together"),
        (["--inline=default-pipeline=canonicalize"], "would run compiled passes or patterns"),
        (
            ["--mlir-elide-elementsattrs-if-larger=many"],
            "expected a number below 2**63, got 'many'",
        ),
        (["--verify-each=perhaps"], "expected true or false, got 'perhaps'"),
        (["--verify-diagnostics=some"], "expected all or only-expected, got 'some'"),
        (["another.mlir"], "expected one input file"),
        ([""], "expected an input file"),
        (["-o", ""], "flag '-o': expected FILE, got ''"),
        (["--mlir-elide-elementsattrs-if-larger=" + "9" * 30], "expected a number below 2**63"),
        (["--mlir-print-ir-before=cse,nope"], "unknown pass 'nope'"),
        (["--mlir-print-ir-after=sdy-import-pipeline"], "is a pipeline"),
        (["--pass-pipeline=builtin.module(no.op(cse))"], "nested in 'no.op', which is no known op"),
        (["--canonicalize=max-iterations=-5"], "expected a number from 0 to 2**63 - 1"),
        (["--canonicalize=max-num-rewrites=" + "9" * 30], "expected a number from 0 to 2**63 - 1"),
        (["--canonicalize=region-simplify=hard"], "expected disabled, normal, aggressive"),
        (["--sdy-save-module=dump-index=-7"], "dump-index must be at least 0"),
        (["--sdy-save-module=file-name=../x"], "file-name must be the name of a file alone"),
        (["--cse=\udcff"], "expected UTF-8, got '--cse=\\udcff'"),
    ],
)
def test_command_line(arguments: list[str], message: str, tmp_path: Path) -> None:
    source = tmp_path / "in.mlir"
    source.write_text(VALID)
    said = assert_refused([source, *arguments], tmp_path / "out.mlir")
    assert said.startswith("sdy-opt: error: ")
    assert message in said


@pytest.mark.parametrize(
    ("redirection", "message"),
    [
        (">&-", "cannot write to standard output: it is closed"),
        ("<&-", "cannot read standard input: it is closed"),
        (">/dev/full", "cannot write to standard output: No space left on device"),
    ],
)
def test_streams_that_cannot_be_used(redirection: str, message: str) -> None:
    command = f"exec {sys.executable} -m sdy.tools.sdy_opt {redirection}"
    run = subprocess.run(
        ["sh", "-c", command], input=VALID, capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert run.returncode == 1
    assert run.stderr == f"sdy-opt: error: {message}\n"


def test_closed_streams_that_are_not_needed(tmp_path: Path) -> None:
    source, output = tmp_path / "in.mlir", tmp_path / "out.mlir"
    source.write_text(VALID)
    command = f"exec {sys.executable} -m sdy.tools.sdy_opt {source} -o {output} <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", command], check=False, cwd=ROOT).returncode == 0
    assert output.read_text() == sdy_opt(source).stdout


def test_too_little_memory_for_the_libraries(tmp_path: Path) -> None:
    source = tmp_path / "in.mlir"
    source.write_text(VALID)
    command = f"ulimit -v 200000; exec {sys.executable} -m sdy.tools.sdy_opt {source}"
    run = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert run.returncode == 1
    assert run.stderr.startswith("sdy-opt: error: cannot load a library: ")


def test_a_file_name_that_is_not_utf8(tmp_path: Path) -> None:
    source = tmp_path / "in\udcff.mlir"
    source.write_text(VALID)
    assert sdy_opt(source).returncode == 0


# Names that MLIR takes and Python cannot, the pass that reads them, and where they stand.
NOT_UTF8 = {
    "axis": ('sdy.mesh @mesh = <["\\FF"=4]>', "sdy-import-pipeline", "1:1"),
    "mesh": ('sdy.mesh @"\\FF" = <["x"=4]>', "sdy-import-pipeline", "1:1"),
    "function": ('func.func @"\\FF"() { return }', "sdy-import-pipeline", "1:1"),
    "custom call": (
        'func.func @main() {\n  stablehlo.custom_call @"\\FF"() : () -> ()\n  return\n}',
        "sdy-basic-propagate",
        "2:3",
    ),
    "any attribute": (
        'func.func @f(%a: f32 {mhlo.sharding = "\\FF"}) { return }',
        "sdy-from-gspmd",
        "1:1",
    ),
}


@pytest.mark.parametrize("kind", NOT_UTF8)
def test_name_that_is_not_utf8(kind: str, tmp_path: Path) -> None:
    text, pass_, place = NOT_UTF8[kind]
    source = tmp_path / "in.mlir"
    source.write_text(text)
    said = assert_refused([source, f"--{pass_}"], tmp_path / "out.mlir")
    assert said.startswith(f"{source}:{place}: error: "), said
    assert "not UTF-8" in said


def test_missing_file(tmp_path: Path) -> None:
    source = tmp_path / "none.mlir"
    said = assert_refused([source], tmp_path / "out.mlir")
    assert said == f"{source}: error: cannot read: No such file or directory\n"


def test_directory(tmp_path: Path) -> None:
    said = assert_refused([tmp_path], tmp_path / "out.mlir")
    assert said == f"{tmp_path}: error: cannot read: Is a directory\n"


def test_unwritable_output(tmp_path: Path) -> None:
    source = tmp_path / "in.mlir"
    source.write_text(VALID)
    for output in (tmp_path, tmp_path / "no" / "such" / "folder"):
        run = sdy_opt(source, "-o", output)
        assert run.returncode == 1
        assert run.stderr.startswith(f"sdy-opt: error: cannot write '{output}': ")


def test_an_output_from_before_stays_where_the_run_fails(tmp_path: Path) -> None:
    source, output = tmp_path / "in.mlir", tmp_path / "out.mlir"
    source.write_text(VALID[:100])
    output.write_text("from before")
    assert sdy_opt(source, "-o", output).returncode == 1
    assert output.read_text() == "from before"


def test_one_bad_part_of_a_split_input_means_no_output(tmp_path: Path) -> None:
    source = tmp_path / "in.mlir"
    source.write_text(f"{VALID}\n// -----\nprose\n// -----\n{VALID}\n// -----\n  more")
    said = assert_refused([source, "--split-input-file"], tmp_path / "out.mlir")
    assert f"{source}:4:1: error: " in said
    assert f"{source}:9:3: error: " in said


def test_the_source_line_and_a_caret_are_shown(tmp_path: Path) -> None:
    source = tmp_path / "in.mlir"
    source.write_text("func.func @f() {\n\treturn %x : f32\n}\n")
    said = assert_refused([source], tmp_path / "out.mlir")
    _, line, caret = said.splitlines()
    assert line == "        return %x : f32"
    assert caret.index("^") == line.index("%x")
