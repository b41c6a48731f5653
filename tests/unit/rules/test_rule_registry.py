from __future__ import annotations

import pytest

from sdy.passes.propagation.rules.registration import rule
from sdy.passes.propagation.rules.registry import unknown_op_warning
from tests.unit.rules.op_text import last_op, rule_text

ARGUMENTS = "%a: tensor<4x8xf32>"


@pytest.mark.parametrize(
    "text",
    [
        "%0 = stablehlo.iota dim = 0 : tensor<4xi32>",
        "%0 = stablehlo.constant dense<0.0> : tensor<4xf32>",
        "%0 = stablehlo.optimization_barrier %a : tensor<4x8xf32>",
        "%0 = sdy.data_flow_edge %a : tensor<4x8xf32>",
        "%0 = sdy.propagation_barrier %a allowed_direction=NONE : tensor<4x8xf32>",
        "%0 = sdy.reshard %a <@mesh, [{}, {}]> : tensor<4x8xf32>",
    ],
)
def test_ops_that_propagation_treats_in_another_way_have_no_rule(text: str) -> None:
    assert rule_text(text, arguments=ARGUMENTS) is None
    with last_op(text, arguments=ARGUMENTS) as op:
        assert unknown_op_warning(op) is None


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (
            "%0 = chlo.erf %a : tensor<4x8xf32> -> tensor<4x8xf32>",
            "op 'chlo.erf' is unknown to SDY sharding rule registry",
        ),
        (
            "%0 = stablehlo.custom_call @mine(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>",
            "custom call @mine is unknown to SDY sharding rule registry",
        ),
        ("%0 = stablehlo.abs %a : tensor<4x8xf32>", None),
        (
            "%0 = stablehlo.custom_call @tpu_custom_call(%a) : (tensor<4x8xf32>) -> tensor<2xf32>",
            None,
        ),
    ],
)
def test_unknown_ops_are_worth_a_warning(text: str, warning: str | None) -> None:
    with last_op(text, arguments=ARGUMENTS) as op:
        assert unknown_op_warning(op) == warning


def test_an_op_cannot_be_registered_twice() -> None:
    with pytest.raises(ValueError, match=r"two rules for op 'stablehlo\.abs'"):
        rule("stablehlo.abs")(lambda _: None)
