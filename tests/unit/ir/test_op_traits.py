from __future__ import annotations

import pytest

from sdy.ir.op_traits import (
    erasable_when_unused,
    is_elementwise,
    is_elementwise_op,
    is_terminator,
)
from tests.unit.rules.op_text import last_op

ARGUMENTS = "%a: tensor<4xf32>, %i: tensor<i32>, %p: tensor<i1>"
PURE = "%r = stablehlo.tanh %a : tensor<4xf32>"
PRINT = """%r = stablehlo.custom_call @print(%a) {has_side_effect = true}
  : (tensor<4xf32>) -> tensor<4xf32>"""


def case(body: str) -> str:
    return f"""%0 = "stablehlo.case"(%i) ({{
      {body}
      stablehlo.return %r : tensor<4xf32>
    }}) : (tensor<i32>) -> tensor<4xf32>"""


def while_loop(condition: str) -> str:
    return f"""%0 = stablehlo.while(%x = %a) : tensor<4xf32>
      cond {{
        {condition}
        stablehlo.return %p : tensor<i1>
      }} do {{
        stablehlo.return %x : tensor<4xf32>
      }}"""


@pytest.mark.parametrize(
    ("text", "erasable"),
    [
        (PURE, True),
        ("%0 = stablehlo.constant dense<0.0> : tensor<4xf32>", True),
        ("%0 = sdy.reshard %a <@mesh, [{}]> : tensor<4xf32>", True),
        ("%0 = sdy.sharding_constraint %a <@mesh, [{}]> : tensor<4xf32>", False),
        ("%0 = stablehlo.custom_call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>", True),
        (PRINT, False),
        (case(PURE), True),
        (case(PRINT), False),
        (case(case(PRINT).replace("%0", "%r")), False),
        (while_loop(""), True),
        (while_loop(PRINT), False),
    ],
)
def test_unused_ops_without_effects_are_erasable(text: str, erasable: bool) -> None:
    with last_op(text, arguments=ARGUMENTS) as op:
        assert erasable_when_unused(op) == erasable


def test_terminators_are_not_erasable() -> None:
    with last_op(case(PURE), arguments=ARGUMENTS) as op:
        terminator = op.regions[0].blocks[0].operations[1].operation
        assert is_terminator(terminator.name)
        assert not erasable_when_unused(terminator)


def test_ops_nested_deeper_than_the_stack_are_no_trouble() -> None:
    text = PURE
    for _ in range(1200):
        text = case(text).replace("%0", "%r")
    with last_op(text, arguments=ARGUMENTS) as op:
        assert erasable_when_unused(op)


@pytest.mark.parametrize(
    ("name", "elementwise"),
    [
        ("stablehlo.add", True),
        ("stablehlo.select", True),
        ("chlo.erf", True),
        ("sdy.sharding_constraint", True),
        ("stablehlo.reshape", False),
        ("stablehlo.dot_general", False),
        ("stablehlo.all_reduce", False),
    ],
)
def test_elementwise_ops(name: str, elementwise: bool) -> None:
    assert is_elementwise(name) == elementwise


@pytest.mark.parametrize(
    ("result", "elementwise"), [("tensor<4xi32>", True), ("tensor<4x4xi8>", False)]
)
def test_a_bitcast_is_elementwise_if_it_keeps_the_shape(result: str, elementwise: bool) -> None:
    text = f"%0 = stablehlo.bitcast_convert %a : (tensor<4xf32>) -> {result}"
    with last_op(text, arguments=ARGUMENTS) as op:
        assert is_elementwise_op(op) == elementwise
