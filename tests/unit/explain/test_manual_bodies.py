"""What is said of values in manual computations, which are parts of tensors already."""

from __future__ import annotations

import json

import pytest

import sdy
from sdy.explain.placement import placement_text
from tests.unit.explain.programs import MESH, function

MANUAL = function(
    '%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, '
    "%y: tensor<8x8xf32>",
    "tensor<8x8xf32>",
    """
  %0 = sdy.manual_computation(%x, %y)
      in_shardings=[<@mesh, [{?}, {"model", ?}]>, <@mesh, [{?}, {"model", ?}]>]
      out_shardings=[<@mesh, [{?}, {"model", ?}]>]
      manual_axes={"model"} (%a: tensor<8x2xf32>, %b: tensor<8x2xf32>) {
    %2 = stablehlo.add %a, %b : tensor<8x2xf32>
    %3 = func.call @double(%2) : (tensor<8x2xf32>) -> tensor<8x2xf32>
    sdy.return %3 : tensor<8x2xf32>
  } : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
func.func private @double(%x: tensor<8x2xf32>) -> tensor<8x2xf32> {
  %0 = stablehlo.add %x, %x : tensor<8x2xf32>
  return %0 : tensor<8x2xf32>""",
)
"""The sum is computed along `model` by hand, along `data` by the partitioner."""


@pytest.fixture(scope="module")
def explanation() -> sdy.Explanation:
    return sdy.explain(MANUAL)


def test_values_know_along_which_axes_they_are_local(explanation: sdy.Explanation) -> None:
    local = {value.spelling for value in explanation.values if value.manual_axes == ("model",)}
    assert local == {
        "%arg2",
        "%arg3",
        "%1",
        "%2",
        "@double:%arg0",
        "@double result 0",
        "@double:%0",
    }
    assert all(v.manual_axes == () for v in explanation.values if v.spelling not in local)
    tables = json.loads(explanation.to_json())
    assert {v["spelling"] for v in tables["values"] if v["manual_axes"] == ["model"]} == local


def test_a_function_that_is_also_called_elsewhere_is_not_local() -> None:
    program = f"""{MESH}
func.func @main(%x: tensor<8xf32>, %y: tensor<2xf32>) -> (tensor<8xf32>, tensor<2xf32>) {{
  %0 = func.call @double(%y) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{{"model"}}]>]
      out_shardings=[<@mesh, [{{"model"}}]>] manual_axes={{"model"}} (%a: tensor<2xf32>) {{
    %2 = func.call @double(%a) : (tensor<2xf32>) -> tensor<2xf32>
    sdy.return %2 : tensor<2xf32>
  }} : (tensor<8xf32>) -> tensor<8xf32>
  return %1, %0 : tensor<8xf32>, tensor<2xf32>
}}
func.func private @double(%x: tensor<2xf32>) -> tensor<2xf32> {{
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}}
"""
    inside = [value for value in sdy.explain(program).values if value.function == "double"]
    assert [value.manual_axes for value in inside] == [()] * 3


def test_the_drawing_and_the_answer_say_so(explanation: sdy.Explanation) -> None:
    said = '  in a manual computation: each device along "model" has a value of its own'
    drawn = placement_text(explanation.value("%1")).splitlines()
    assert drawn[1:3] == [said, "  2 parts of 4x2, each on 4 devices"]
    why = str(explanation.why("%1")).splitlines()
    assert said in why
    assert str(explanation.why("%arg2")).splitlines()[1].startswith("  argument in a region of")


def test_a_value_that_is_local_along_all_axes_is_not_said_to_be_on_every_device() -> None:
    program = MANUAL.replace('manual_axes={"model"}', 'manual_axes={"data", "model"}')
    program = program.replace('{?}, {"model", ?}', '{"data"}, {"model"}').replace("8x2", "4x2")
    text = placement_text(sdy.explain(program).value("%1"))
    assert text.splitlines() == [
        "%1: tensor<4x2xf32>, no sharding",
        '  in a manual computation: each device along "data", "model" has a value of its own',
    ]


def test_manual_axes_are_no_conflict_inside(explanation: sdy.Explanation) -> None:
    (why_not,) = explanation.why("%1", 1).why_not
    assert why_not.conflicts == ()


def test_the_tables_have_all_annotations_in_the_order_of_the_text(
    explanation: sdy.Explanation,
) -> None:
    tables = json.loads(explanation.to_json())
    assert [row["text"] for row in tables["annotations"]] == [
        annotation.text for annotation in explanation.annotations
    ]


def test_what_an_argument_says_is_its_own(explanation: sdy.Explanation) -> None:
    (chain,) = explanation.why("%1", 0).chains
    assert chain.annotation is not None
    assert chain.annotation.text == "argument %arg0"
    assert sorted(annotation.text for annotation in explanation.annotations) == [
        "argument %arg0",
        "input 0 of a manual computation",
        "input 1 of a manual computation",
        "output 0 of a manual computation",
    ]
