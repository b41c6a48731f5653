from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import sdy

if TYPE_CHECKING:
    from jaxlib.mlir import ir

DECOMPOSITIONS = """
func.func private @transpose(%x: tensor<8x4xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func private @nested(%x: tensor<8x4xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.tanh %x : tensor<8x4xf32>
  %1 = stablehlo.composite "my.transpose" %0 {decomposition = @transpose}
    : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
func.func private @loop(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<8x4xf32>
  cond {
    %p = stablehlo.compare EQ, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %z = func.call @helper(%y) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    stablehlo.return %i, %z : tensor<i32>, tensor<8x4xf32>
  }
  return %0#1 : tensor<8x4xf32>
}
func.func private @helper(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.negate %x : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
func.func private @constrained(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = sdy.sharding_constraint %x <@mesh, [{?}, {"y", ?}]> : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
"""


def program(signature: str, body: str) -> str:
    return (
        f"""sdy.mesh @mesh = <["x"=2, "y"=4]>
    func.func @main{signature} {{
      {body}
    }}"""
        + DECOMPOSITIONS
    )


def composite(decomposition: str, operand: str, attributes: str = "") -> str:
    result = "8x4" if decomposition in ("loop", "constrained") else "4x8"
    return f"""stablehlo.composite "my.{decomposition}" {operand}
      {{decomposition = @{decomposition}{attributes}}}
      : (tensor<8x4xf32>) -> tensor<{result}xf32>"""


def shardings(
    text: str, *, follow_composites: bool = True, dedup_functions_fully: bool = False
) -> dict[str, str]:
    """Propagate, following composites; return the shardings of main's values by name."""
    module = sdy.propagate(
        text, follow_composites=follow_composites, dedup_functions_fully=dedup_functions_fully
    )
    assert module.operation.verify()
    assert "named_computation" not in str(module)
    return {
        value.name: str(value.sharding).removeprefix("sharding<@mesh, ").removesuffix(">")
        for value in sdy.shardings(module)
        if value.function == "main"
    }


FORWARD = program(
    '(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x8xf32>',
    f"%0 = {composite('transpose', '%a')}\n return %0 : tensor<4x8xf32>",
)
BACKWARD = program(
    '(%a: tensor<8x4xf32>) -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})',
    f"%0 = {composite('nested', '%a')}\n return %0 : tensor<4x8xf32>",
)


@pytest.mark.parametrize("dedup_functions_fully", [False, True])
@pytest.mark.parametrize("text", [FORWARD, BACKWARD])
def test_shardings_pass_through_the_decomposition_both_ways(
    text: str, dedup_functions_fully: bool
) -> None:
    found = shardings(text, dedup_functions_fully=dedup_functions_fully)
    assert found["%arg0"] == '[{"x"}, {}]'
    assert found["%0"] == '[{}, {"x"}]'


def test_composites_stay_as_they_are_by_default() -> None:
    with pytest.warns(sdy.ShardingWarning, match=r"op 'stablehlo.composite' is unknown"):
        found = shardings(FORWARD, follow_composites=False)
    assert found["%0"] == "None"


@pytest.mark.parametrize("dedup_functions_fully", [False, True])
def test_a_decomposition_may_have_loops_and_calls(dedup_functions_fully: bool) -> None:
    text = program(
        '(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) '
        "-> tensor<8x4xf32>",
        f"%0 = {composite('loop', '%a')}\n return %0 : tensor<8x4xf32>",
    )
    found = shardings(text, dedup_functions_fully=dedup_functions_fully)
    assert found["%0"] == '[{"x"}, {"y"}]'


def test_what_a_decomposition_says_of_its_tensors_counts() -> None:
    text = program(
        "(%a: tensor<8x4xf32>) -> tensor<8x4xf32>",
        f"%0 = {composite('constrained', '%a')}\n return %0 : tensor<8x4xf32>",
    )
    found = shardings(text)
    assert found["%arg0"] == found["%0"] == '[{}, {"y"}]'


def test_composites_of_one_decomposition_are_sharded_each_its_own_way() -> None:
    text = program(
        '(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, '
        '%b: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) '
        "-> (tensor<4x8xf32>, tensor<4x8xf32>)",
        f"""%0 = {composite("transpose", "%a")}
        %1 = {composite("transpose", "%b")}
        return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>""",
    )
    found = shardings(text)
    assert (found["%0"], found["%1"]) == ('[{}, {"x"}]', '[{"y"}, {}]')
    module = str(sdy.propagate(text, follow_composites=True))
    assert "%arg0 {decomposition = @transpose, sdy" in module
    assert "%arg1 {decomposition = @transpose_0, sdy" in module


def arguments(module: ir.Module) -> dict[str, str]:
    """Return for each function the sharding of its first argument."""
    return {v.function: str(v.sharding) for v in sdy.shardings(module) if v.name == "%arg0"}


def test_the_decomposition_has_the_shardings_of_the_composite() -> None:
    found = arguments(sdy.propagate(BACKWARD, follow_composites=True))
    assert found["nested"] == found["transpose"] == 'sharding<@mesh, [{"x"}, {}]>'


def test_composites_that_are_sharded_alike_share_their_decomposition() -> None:
    text = program(
        '(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) '
        "-> (tensor<4x8xf32>, tensor<4x8xf32>)",
        f"""%0 = {composite("transpose", "%a")}
        %1 = {composite("transpose", "%a")}
        return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>""",
    )
    assert arguments(sdy.propagate(text, follow_composites=True)).keys() == {"main", "transpose"}


def test_a_decomposition_that_is_called_too_stays_what_it_is_for_calls() -> None:
    text = program(
        '(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, '
        '%b: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) '
        "-> (tensor<4x8xf32>, tensor<4x8xf32>)",
        f"""%0 = {composite("transpose", "%a")}
        %1 = func.call @transpose(%b) : (tensor<8x4xf32>) -> tensor<4x8xf32>
        return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>""",
    )
    found = arguments(sdy.propagate(text, follow_composites=True, dedup_functions_fully=True))
    assert found["transpose"] == 'sharding<@mesh, [{}, {"y"}]>'
    assert found["transpose_0"] == 'sharding<@mesh, [{"x"}, {}]>'


@pytest.mark.filterwarnings("ignore::sdy.ShardingWarning")
def test_only_shardings_change() -> None:
    attributes = ', composite_attributes = {k = 1 : i64}, version = 3 : i32, note = "kept"'
    text = program(
        "(%a: tensor<8x4xf32>) -> tensor<4x8xf32>",
        f"%0 = {composite('transpose', '%a', attributes)}\n return %0 : tensor<4x8xf32>",
    )
    followed, not_followed = (
        sdy.run_pipeline(sdy.load(text), f"builtin.module(sdy-basic-propagate{options})")
        for options in ("{follow-composites=true}", "")
    )
    assert str(followed) == str(not_followed)


def test_a_composite_that_nothing_uses_stays() -> None:
    text = program("(%a: tensor<8x4xf32>)", f"%0 = {composite('transpose', '%a')}\n return")
    assert '"my.transpose"' in str(sdy.propagate(text, follow_composites=True))


def test_a_composite_with_a_rule_is_not_followed() -> None:
    with sdy.rule_scope():
        sdy.register_rule("my.transpose", "i j -> k i")
        sdy.register_rule("my.nested", "i j -> k l")
        assert shardings(FORWARD)["%0"] == '[{}, {"x"}]'
        assert shardings(BACKWARD)["%arg0"] == "None"


def test_a_composite_that_decomposes_into_itself_is_an_error() -> None:
    text = """func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
      %0 = stablehlo.composite "my.f" %a {decomposition = @f} : (tensor<8xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }
    func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> {
      %0 = stablehlo.composite "my.f" %a {decomposition = @f} : (tensor<8xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }"""
    with pytest.raises(sdy.DiagnosticError, match="decomposes into itself: @f -> @f"):
        sdy.propagate(text, follow_composites=True)
