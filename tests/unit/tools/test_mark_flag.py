"""`--mark`: its grammar, and what it does to a program."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdy.dialect.errors import Error, ParseError
from sdy.tools.flags import parse_arguments
from sdy.tools.mark_flag import parse_mark
from tests.unit.tools.command import sdy_opt

PROGRAM = """\
sdy.mesh @mesh = <["data"=2, "fsdp"=2, "model"=2]>
func.func @main(%arg0: tensor<8x8x8xf32>) -> tensor<8x8x8xf32> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<8x8x8xf32>
  %1 = stablehlo.multiply %0, %arg0 : tensor<8x8x8xf32>
  return %1 : tensor<8x8x8xf32>
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "in.mlir"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "function", "value", "mesh", "spec"),
    [
        ("@main:arg0=data,None,model", "main", "%arg0", None, ("data", None, "model")),
        ("@main:%0#1=(data,fsdp),None", "main", "%0#1", None, (("data", "fsdp"), None)),
        ("@main:%arg2=(data,)", "main", "%arg2", None, (("data",),)),
        ("@f.g:result1=@mesh:0,None", "f.g", "@f.g result 1", "mesh", (0, None)),
        ('@"a:b":%0=@"m=":"None","0"', "a:b", "%0", "m=", ("None", "0")),
        ("@inner::@f:arg0=x.0", "inner::@f", "%arg0", None, ("x.0",)),
        (" @main : arg0 = ( data , 1 ) , None ", "main", "%arg0", None, (("data", 1), None)),
        ("@main:arg0=", "main", "%arg0", None, ()),
    ],
)
def test_marks_are_read(
    text: str, function: str, value: str, mesh: str | None, spec: tuple[object, ...]
) -> None:
    mark = parse_mark(text)
    assert (mark.function, mark.value, mark.mesh, mark.spec) == (function, value, mesh, spec)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 1, "expected '@' and the name of a function, found the end"),
        ("main:arg0=x", 1, "expected '@' and the name of a function, found 'main'"),
        ("@:arg0=x", 2, "expected the name of a function, found ':'"),
        ("@main=x", 6, "expected ':' after the function, found '='"),
        ("@main:0=x", 7, "expected a value, such as arg0, result0 or %0, found '0'"),
        ("@main:arg0", 11, "expected '=' after the value, found the end"),
        ("@main:arg0=@mesh", 17, "expected ':' between the mesh @mesh and the partition spec"),
        ("@main:arg0=x,,y", 14, "expected None, an axis of the mesh, or a tuple of axes"),
        ("@main:arg0=x,", 14, "found the end"),
        ("@main:arg0=()", 13, "found ')'"),
        ("@main:arg0=(x,y", 16, "expected ')' after the axes of one dimension"),
        ("@main:arg0=x y", 14, "expected ',' or the end of the mark, found 'y'"),
        ('@main:arg0="x', 12, "found '\"'"),
        ("@main:arg0=x;y", 13, "found ';'"),
    ],
)
def test_a_wrong_mark_is_located(text: str, column: int, message: str) -> None:
    with pytest.raises(ParseError) as wrong:
        parse_mark(text)
    assert message in str(wrong.value)
    assert (wrong.value.line, wrong.value.column) == (1, column)
    with pytest.raises(Error, match="flag '--mark'"):
        parse_arguments([f"--mark={text}"])


def test_marks_are_collected_in_order() -> None:
    options = parse_arguments(["--mark=@main:arg0=x", "--cse", "--mark", "@main:arg1=y"])
    assert [mark.value for mark in options.mark] == ["%arg0", "%arg1"]


def test_values_are_named_as_they_are_before_the_first_mark(program: Path) -> None:
    run = sdy_opt(
        program,
        "--mark=@main:arg0=data,None,model",
        "--mark=@main:%0=(data,fsdp),None,None",
        "--mark=@main:%1=@mesh:None,1,None",
    )
    assert run.returncode == 0, run.stderr
    assert '%arg0: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {"mo' in (
        run.stdout
    )
    assert '%1 = sdy.sharding_constraint %0 <@mesh, [{"data", "fsdp"}, {}, {}]>' in run.stdout
    assert '%3 = sdy.sharding_constraint %2 <@mesh, [{}, {"fsdp"}, {}]>' in run.stdout


def test_propagation_starts_from_marks(program: Path) -> None:
    run = sdy_opt(program, "--mark=@main:arg0=data,None,model", "--sdy-propagation-pipeline")
    assert run.returncode == 0, run.stderr
    assert (
        '(tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}, {"model"}]>}) {'
        in (run.stdout)
    )


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        (["@main:arg0=data,None"], "2 entries for a tensor of rank 3"),
        (["@main:arg0=data,None,modl"], 'unknown axis name: "modl"'),
        (["@main:arg9=data,None,model"], "no value '%arg9'"),
        (["@man:arg0=data,None,model"], "no function @man; the module's functions are: @main"),
        (["@main:result4=data,None,model"], "1 results, no result 4"),
        (["@main:arg0=@other:data,None,model"], "unknown mesh: @other; the module has @mesh"),
    ],
)
def test_a_mark_that_does_not_fit_is_named(program: Path, marks: list[str], message: str) -> None:
    run = sdy_opt(program, *(f"--mark={mark}" for mark in marks))
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.startswith(f"{program}: error: --mark='{marks[0]}': ")
    assert message in run.stderr


def test_a_second_different_mark_is_refused_at_the_values_place(program: Path) -> None:
    run = sdy_opt(program, "--mark=@main:%0=0,None,None", "--mark=@main:%0=None,0,None")
    assert (run.returncode, run.stdout) == (1, "")
    assert f"{program}:3:8: error: %0 is marked" in run.stderr
    assert "stablehlo.add %arg0" in run.stderr


def test_a_program_with_several_meshes_needs_a_named_one(tmp_path: Path) -> None:
    program = tmp_path / "in.mlir"
    program.write_text(f'sdy.mesh @other = <["x"=8]>\n{PROGRAM}', encoding="utf-8")
    run = sdy_opt(program, "--mark=@main:arg0=x,None,None")
    assert run.returncode == 1
    assert "say which mesh is meant: the module has @other, @mesh" in run.stderr
    assert sdy_opt(program, "--mark=@main:arg0=@other:x,None,None").returncode == 0
