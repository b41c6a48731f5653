"""Frontend attributes and HloShardings that say nonsense: an error at the op, no crash."""

from __future__ import annotations

import pytest

import sdy
from sdy.ir.load import load
from sdy.passes.pass_bug import PassBugError
from sdy.passes.pass_manager import PassManager
from sdy.passes.pipeline import Pipeline, pass_steps

IMPORT = "xla-sdy-round-trip-import-pipeline"
MESH = 'sdy.mesh @mesh = <["x"=2]>\n'


def run(pipeline: str, text: str, options: str = "") -> None:
    module = load(text)
    steps = tuple(pass_steps(pipeline, options))
    PassManager(Pipeline(steps), module.context).run(module)


def assert_refused(pipeline: str, text: str, message: str, options: str = "") -> None:
    with pytest.raises(sdy.Error, match=message) as raised:
        run(pipeline, text, options)
    assert not isinstance(raised.value, PassBugError)


def program(call: str) -> str:
    return f"""{MESH}func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {{
  %0 = {call}
  return %0 : tensor<4xf32>
}}"""


def custom_call(target: str, attributes: str) -> str:
    kind = "(tensor<4xf32>) -> tensor<4xf32>"
    return program(f"stablehlo.custom_call @{target}(%arg0) {{{attributes}}} : {kind}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('""', "is no attribute"),
        ('" // nothing"', "is no attribute"),
        ('"{}, {}"', "is no attribute"),
        ('"{mesh = #sdy.mesh<"', "is no attribute"),
        ('"' + r"\5B" * 5000 + '"', "nested more than"),
        ('"3 : i32"', "expected a Dict, got 3 : i32"),
        ('"{mesh = 3 : i32}"', "'mesh' is no mesh: 3 : i32"),
        ("3 : i32", "expected a dictionary of texts"),
    ],
)
def test_meshes_that_are_none(text: str, message: str) -> None:
    attributes = f"mhlo.frontend_attributes = {{xla.sdy.meshes = {text}}}"
    assert_refused(IMPORT, f"module attributes {{{attributes}}} {{}}", message)


@pytest.mark.parametrize(
    ("target", "name", "text", "message"),
    [
        ("Sharding", "sharding", "3 : i32", "expected a TensorShardingPerValue"),
        ("Sharding", "sharding", "#sdy.sharding_per_value<[]>", "0 shardings for 1 values"),
        ("xla.sdy.FuncResultSharding", "sharding", "#sdy.sharding_per_value<[]>", "0 shardings"),
        ("xla.sdy.ShardingGroup", "sharding_group_id", "unit", "expected a Integer"),
        ("xla.sdy.PropagationBarrier", "allowed_direction", "[]", "expected a Integer"),
    ],
)
def test_attributes_of_another_kind(target: str, name: str, text: str, message: str) -> None:
    attributes = f'mhlo.frontend_attributes = {{xla.sdy.{name} = "{text}"}}, has_side_effect = true'
    assert_refused(IMPORT, custom_call(target, attributes), message)


@pytest.mark.parametrize("target", ["xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape"])
def test_shape_changes_without_a_call_between_them(target: str) -> None:
    assert_refused(IMPORT, custom_call(target, ""), "expected its results to go to or from a call")


def test_meshes_that_are_some() -> None:
    attributes = 'mhlo.frontend_attributes = {xla.sdy.meshes = "{mesh = #sdy.mesh<[]>}"}'
    run(IMPORT, f"module attributes {{{attributes}}} {{}}")


def test_a_shape_change_without_operands() -> None:
    text = """func.func @main() {
  stablehlo.custom_call @xla.sdy.LocalToGlobalShape() {mhlo.sharding = "{replicated}"} : () -> ()
  return
}"""
    run(IMPORT, text, "enable-hlo-sharding-v3=true")


@pytest.mark.parametrize(
    ("sharding", "message"),
    [
        ("3 : i32", "in mhlo.sharding: expected a text, got 3 : i32"),
        ('"{maximal device=-1}"', "no mesh"),
        ('"{maximal device=99999999999999999999}"', "no mesh"),
    ],
)
def test_hlo_shardings_that_are_none(sharding: str, message: str) -> None:
    text = program(f"stablehlo.tanh %arg0 {{mhlo.sharding = {sharding}}} : tensor<4xf32>")
    assert_refused("sdy-from-gspmd", text, message)


def test_manual_axes_that_are_none() -> None:
    text = program("stablehlo.tanh %arg0 : tensor<4xf32>").replace(
        "%arg0: tensor<4xf32>", "%arg0: tensor<4xf32> {xla.sdy.manual_axes = 3 : i32}"
    )
    assert_refused("sdy-to-gspmd", text, "of the wrong kind: .*ManualAxesAttr")


def test_an_unranked_tensor_is_returned_as_it_is() -> None:
    text = """func.func @main(%arg0: tensor<*xf32>) -> tensor<*xf32> {
  return %arg0 : tensor<*xf32>
}"""
    assert "return %arg0 : tensor<*xf32>" in str(sdy.propagate(text))
