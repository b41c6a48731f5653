"""Textual pipelines and the pass manager."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from jaxlib.mlir import ir

from sdy.dialect.errors import Error, ParseError
from sdy.ir.diagnostics import op_error
from sdy.ir.load import load
from sdy.passes import registry
from sdy.passes.base import Pass, option
from sdy.passes.gspmd.from_gspmd import from_gspmd
from sdy.passes.gspmd.to_gspmd import to_gspmd
from sdy.passes.pass_bug import PassBugError
from sdy.passes.pass_manager import Instrument, PassManager, Verification
from sdy.passes.pass_pipeline import PassPipeline
from sdy.passes.pipeline import Pipeline, Step, parse_pipeline, run_pipeline

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule

PROGRAM = """\
module attributes {test.name = "it"} {
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
    %1 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<4xf32>
    return %2 : tensor<4xf32>
  }
}
"""


@dataclass(frozen=True, slots=True)
class Meddle(Pass):
    """Erases the module's attributes and a function's body, and then does as told."""

    name: ClassVar[str] = "sdy-meddle"

    then: str = option("succeed", "succeed, refuse, fail or leave an invalid module")
    times: int = option(1, "how often")
    quickly: bool = option(False, "whether in a hurry")

    def run(self, module: IndexedModule) -> None:
        op = module.ops("stablehlo.multiply")[0]
        op.operands[1] = op.operands[0]
        del module.operation.attributes["test.name"]
        match self.then:
            case "refuse":
                raise op_error(op, "cannot multiply")
            case "fail":
                raise KeyError("lost")
            case "invalid":
                op.results[0].set_type(ir.Type.parse("tensor<3xf32>"))


@dataclass(frozen=True, slots=True)
class OnFunctions(Pass):
    """Does nothing."""

    name: ClassVar[str] = "sdy-on-functions"
    anchor: ClassVar[str] = "func.func"

    def run(self, module: IndexedModule) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Anywhere(Pass):
    """Does nothing."""

    name: ClassVar[str] = "sdy-anywhere"
    anchor: ClassVar[str] = "any"

    def run(self, module: IndexedModule) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Several(PassPipeline):
    """Runs others."""

    name: ClassVar[str] = "sdy-several"

    times: int = option(2, "how often")

    def text(self) -> str:
        return f"builtin.module(sdy-meddle{{times={self.times}}},func.func(sdy-on-functions),cse)"


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    for cls in (Meddle, OnFunctions, Anywhere, Several):
        monkeypatch.setitem(registry._PASSES, cls.name, f"{__name__}:{cls.__name__}")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("builtin.module(cse)", "builtin.module(cse)"),
        ("cse, symbol-dce", "builtin.module(cse,symbol-dce)"),
        ("", "builtin.module()"),
        ("builtin.module()", "builtin.module()"),
        (
            "builtin.module( func.func( cse , cse ) , symbol-dce )",
            "builtin.module(func.func(cse,cse),symbol-dce)",
        ),
        ("sdy-on-functions", "builtin.module(func.func(sdy-on-functions))"),
        (
            "sdy-on-functions,sdy-on-functions,cse",
            "builtin.module(func.func(sdy-on-functions,sdy-on-functions),cse)",
        ),
        (
            "sdy-meddle{times=3 quickly}",
            "builtin.module(sdy-meddle{then=succeed times=3 quickly=true})",
        ),
        (
            "sdy-meddle{then={a b} quickly=0}",
            "builtin.module(sdy-meddle{then={a b} times=1 quickly=false})",
        ),
        (
            "sdy-meddle{then='a b'}",
            "builtin.module(sdy-meddle{then={a b} times=1 quickly=false})",
        ),
        (
            "sdy-several{times=5}",
            "builtin.module(sdy-meddle{then=succeed times=5 quickly=false},"
            "func.func(sdy-on-functions),cse)",
        ),
        ("sdy-anywhere", "builtin.module(sdy-anywhere)"),
        (
            "builtin.module(func.func(sdy-anywhere))",
            "builtin.module(func.func(sdy-anywhere))",
        ),
        # The default of `inline` would run the compiled canonicalisation of sdy ops.
        ("inline", "builtin.module(inline{default-pipeline=})"),
    ],
)
def test_a_pipeline_prints_as_it_parses(text: str, meant: str) -> None:
    assert str(parse_pipeline(text)) == meant
    assert str(parse_pipeline(meant)) == meant


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("builtin.module(cse", 15, "expected ')'"),
        ("builtin.module(cse))", 20, "expected ',' or the end of the pipeline, found ')'"),
        ("cse,,cse", 5, "expected the name of a pass or an op, found ','"),
        ("cse,", 5, "expected the name of a pass or an op, found the end of the pipeline"),
        ("cse{a=b", 4, "expected a closing '}'"),
        ("(" * 5000, 1, "expected the name"),
        ("a(" * 5000, 0, "nested too deeply"),
    ],
)
def test_syntax_errors_say_where(text: str, column: int, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_pipeline(text)
    assert message in str(caught.value)
    if column:
        assert (caught.value.line, caught.value.column) == (1, column)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sdy-medle", "unknown pass 'sdy-medle'; did you mean 'sdy-meddle'?"),
        # Compiled passes of Shardy that this package has none of are not there either.
        ("sdy-save-module-op", "unknown pass 'sdy-save-module-op'"),
        ("sdy-meddle{time=3}", "pass 'sdy-meddle' has no option 'time'; did you mean 'times'?"),
        ("sdy-meddle{x=3}", "has no option 'x'; its options are then, times, quickly"),
        ("sdy-on-functions{x=3}", "pass 'sdy-on-functions' has no options, got 'x'"),
        (
            "sdy-meddle{times=many}",
            "option 'times' of pass 'sdy-meddle': expected an integer, got 'many'",
        ),
        ("sdy-meddle{times}", "expected a value, got none"),
        ("sdy-meddle{quickly=soon}", "expected true or false, got 'soon'"),
        (
            "builtin.module(sdy-on-functions)",
            "pass 'sdy-on-functions' runs on 'func.func', not on 'builtin.module'; did you intend "
            "to nest it as 'builtin.module(func.func(sdy-on-functions))'?",
        ),
        (
            "builtin.module(func.func(sdy-meddle))",
            "pass 'sdy-meddle' runs on 'builtin.module', not on 'func.func'",
        ),
        ("func.func(cse)", "a pipeline on a module cannot start with 'func.func(...)'"),
    ],
)
def test_names_and_options(text: str, message: str) -> None:
    with pytest.raises(Error) as caught:
        parse_pipeline(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("symbol-dc", "unknown pass 'symbol-dc'; did you mean 'symbol-dce'?"),
        ("cse{deep=1}", "pass 'cse' has no option 'deep'"),
        ("inline{default-pipeline=canonicalize}", "would run compiled passes or patterns"),
        ("composite-fixed-point-pass{pipeline=canonicalize}", "would run compiled passes"),
        ("composite-fixed-point-pass{pipeline=sdy-close-shardings}", "would run compiled passes"),
    ],
)
def test_passes_of_mlir_are_checked_before_any_runs(text: str, message: str) -> None:
    module = load(PROGRAM)
    with pytest.raises(Error) as caught:
        run_pipeline(module, f"sdy-meddle,{text}" if "(" not in text else text)
    assert message in str(caught.value)
    assert str(module) == PROGRAM


def test_passes_of_mlir_run() -> None:
    module = load(PROGRAM)
    assert run_pipeline(module, "builtin.module(func.func(cse))") is module
    assert str(module).count("stablehlo.add") == 1
    run_pipeline(module, "sdy-several, symbol-dce, canonicalize")
    assert "test.name" not in str(module)


@pytest.mark.parametrize(
    ("then", "message"),
    [
        ("refuse", "<text>:5:10: error: cannot multiply"),
        (
            "fail",
            "<text>:5:10: error: bug in pass 'sdy-meddle' at op 'stablehlo.multiply': "
            "KeyError: 'lost' (test_pipeline.py:",
        ),
        ("invalid", "note: the pipeline has left a module that is not valid"),
    ],
)
def test_a_module_is_as_before_where_a_pass_fails(then: str, message: str) -> None:
    module = load(PROGRAM)
    with pytest.raises(Error) as caught:
        run_pipeline(module, f"cse, sdy-meddle{{then={then}}}")
    assert message in str(caught.value)
    assert str(module) == PROGRAM
    assert module.operation.verify()
    run_pipeline(module, "cse")


def test_a_bug_is_an_error_of_its_own_with_its_cause() -> None:
    with pytest.raises(PassBugError) as caught:
        run_pipeline(load(PROGRAM), "sdy-meddle{then=fail}")
    assert isinstance(caught.value.__cause__, KeyError)


class Recorder(Instrument):
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def before_pass(self, step: Step, module: ir.Module) -> None:  # noqa: ARG002
        self.told.append(f"before {step.name}")

    def after_pass(self, step: Step, module: ir.Module) -> None:  # noqa: ARG002
        self.told.append(f"after {step.name}")

    def after_failure(self, step: Step, module: ir.Module) -> None:  # noqa: ARG002
        self.told.append(f"failed {step.name}")

    def before_verifier(self) -> None:
        self.told.append("verify")

    def after_verifier(self) -> None:
        self.told.append("valid")


def run_recorded(pipeline: Pipeline, verification: Verification = Verification.LAST) -> list[str]:
    module = load(PROGRAM)
    recorder = Recorder()
    manager = PassManager(
        pipeline, module.context, verification=verification, instruments=[recorder]
    )
    try:
        manager.run(module)
    except Error:
        recorder.told.append("error")
    return recorder.told


def test_instruments_are_told_of_each_pass_also_inside_of_a_pipeline() -> None:
    assert run_recorded(parse_pipeline("sdy-several")) == [
        "before sdy-meddle",
        "after sdy-meddle",
        "before sdy-on-functions",
        "after sdy-on-functions",
        "before cse",
        "verify",
        "valid",
        "after cse",
    ]


def test_the_verifier_runs_after_each_pass_where_asked() -> None:
    assert run_recorded(parse_pipeline("cse"), Verification.NEVER) == ["before cse", "after cse"]
    told = run_recorded(parse_pipeline("cse, cse"), Verification.EACH)
    assert told == ["before cse", "verify", "valid", "after cse"] * 2
    told = run_recorded(parse_pipeline("sdy-meddle{then=invalid}, cse"), Verification.EACH)
    assert told == ["before sdy-meddle", "verify", "failed sdy-meddle", "error"]


def test_an_option_that_shardy_does_not_have_is_printed_where_it_is_set() -> None:
    assert "follow-composites" not in str(parse_pipeline("sdy-basic-propagate"))
    text = str(parse_pipeline("sdy-basic-propagate{follow-composites=true}"))
    assert "follow-composites=true" in text
    assert str(parse_pipeline(text)) == text


def test_a_pipeline_runs_on_a_module() -> None:
    run: Any = run_pipeline
    for wrong in (None, "module {}", load("module {}").operation):
        with pytest.raises(TypeError, match=r"module: expected an ir\.Module"):
            run(wrong, "cse")
    with pytest.raises(TypeError, match="text: expected a str, got NoneType"):
        run(load("module {}"), None)
    convert: Any
    for convert in (to_gspmd, from_gspmd):
        with pytest.raises(TypeError, match=r"module: expected an ir\.Module"):
            convert("module {}")
