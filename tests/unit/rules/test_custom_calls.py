from __future__ import annotations

import pytest

from sdy.passes.propagation.rules.registry import rule_for
from tests.unit.rules.op_text import last_op, rule_text


def call(target: str, operands: str, results: str) -> str | None:
    """Return the rule of a call of tensors with these shapes, such as "8x4, 8"."""
    operand_types, result_types = (
        [f"tensor<{shape}xf32>" if shape else "tensor<f32>" for shape in shapes.split(", ")]
        for shapes in (operands, results)
    )
    arguments = ", ".join(f"%a{i}: {type_}" for i, type_ in enumerate(operand_types))
    values = ", ".join(f"%a{i}" for i in range(len(operand_types)))
    text = f"""%0:{len(result_types)} = stablehlo.custom_call @{target}({values})
      : ({", ".join(operand_types)}) -> ({", ".join(result_types)})"""
    return rule_text(text, arguments=arguments)


@pytest.mark.parametrize("target", ["MoveToHost", "mhlo.erf", "_SPMDInternalOp_RotateRight"])
def test_known_pointwise_targets(target: str) -> None:
    assert call(target, "8x4", "8x4") == "([i, j])->([i, j]) {i=8, j=4}"


@pytest.mark.parametrize("target", ["tpu_custom_call", "not_known"])
def test_targets_without_a_rule(target: str) -> None:
    assert call(target, "8x4", "8x4") is None


def test_eigenvalues_go_with_the_columns() -> None:
    assert call("Eigh", "8x4x4", "8x4x4, 8x4") == (
        "([i, j, k])->([i, j, k], [i, k]) {i=8, j=4, k=4}"
    )


def test_qr_and_its_inverse_are_batched() -> None:
    assert call("Qr", "8x6x4", "8x6x4, 8x4") == (
        "([i, j, k])->([i, j, k], [i, l]) {i=8, j=6, k=4, l=4} need_replication={j, k, l}"
    )
    assert call("ProductOfElementaryHouseholderReflectors", "8x6x4, 8x4", "8x6x4") == (
        "([i, j, k], [i, l])->([i, j, k]) {i=8, j=6, k=4, l=4} need_replication={j, k, l}"
    )


def test_top_k() -> None:
    assert call("mhlo.topk", "8x16", "8x4, 8x4") == (
        "([i, j])->([i, j], [i, j]) {i=8, j=16} need_replication={j} blocked_propagation={j}"
    )
    assert call("ApproxTopK", "8x16, 8x16, , ", "8x4, 8x4") == (
        "([i, j], [i, j], [], [])->([i, k], [i, k]) {i=8, j=16, k=4} "
        "need_replication={k} blocked_propagation={k}"
    )


@pytest.mark.parametrize(
    ("target", "operands", "results"),
    [
        ("Eigh", "4", "4, 4"),
        ("Qr", "8x6x4", "8x6x4"),
        ("ProductOfElementaryHouseholderReflectors", "8x6x4", "8x6x4"),
        ("ApproxTopK", "8x16", "8x4"),
        ("mhlo.topk", "8x16", "8"),
        ("mhlo.erf", "8x16", "8"),
    ],
)
def test_a_call_whose_tensors_do_not_fit_its_target_has_no_rule(
    target: str, operands: str, results: str
) -> None:
    assert call(target, operands, results) is None


def test_a_call_that_gives_a_token_has_no_rule() -> None:
    text = "%0 = stablehlo.custom_call @MoveToHost(%a) : (tensor<4xf32>) -> !stablehlo.token"
    assert rule_text(text, arguments="%a: tensor<4xf32>") is None


JOIN = """%s = stablehlo.custom_call @X64Combine(%a, %a)
  : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui64>"""
GENERATE = """%0, %1 = stablehlo.rng_bit_generator %s, algorithm = DEFAULT
  : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x8xui32>)"""


def test_joined_halves_are_pointwise() -> None:
    assert rule_text(JOIN, arguments="%a: tensor<2xui32>") == "([i], [i])->([i]) {i=2}"


def test_joined_halves_stay_whole_if_they_are_the_state_of_random_numbers() -> None:
    with last_op(JOIN + GENERATE, arguments="%a: tensor<2xui32>") as generator:
        rule = rule_for(generator.operands[0].owner.operation)
        assert rule is not None
        assert rule.body == ("([i], [i])->([i]) {i=2} need_replication={i} blocked_propagation={i}")
