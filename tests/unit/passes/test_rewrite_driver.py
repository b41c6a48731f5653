"""The greedy driver: which ops it visits, in which order, and when it stops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from jaxlib.mlir import ir

from sdy.ir.context import make_context
from sdy.ir.indexed_module import IndexedModule
from sdy.passes.canonicalize.driver import Rewriter, pattern, rewrite_greedily

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = """
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %arg0 {id = 0} : tensor<4xf32>
  %1 = stablehlo.negate %0 {id = 1} : tensor<4xf32>
  %2 = stablehlo.negate %1 {id = 2} : tensor<4xf32>
  %3 = stablehlo.sine %1 : tensor<4xf32>
  %4 = stablehlo.cosine %3 : tensor<4xf32>
  %5 = stablehlo.custom_call @effect(%2) {has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
"""


@pytest.fixture
def module() -> Iterator[IndexedModule]:
    with make_context():
        yield IndexedModule(ir.Module.parse(PROGRAM))


def names(module: IndexedModule) -> list[str]:
    function = module.ops("func.func")[0]
    return [op.operation.name for op in function.regions[0].blocks[0].operations]


@pattern("stablehlo.negate")
def double_negation(op: ir.Operation, rewriter: Rewriter) -> bool:
    """Replace the negation of a negation by what was negated."""
    operand = op.operands[0]
    if not isinstance(operand, ir.OpResult) or operand.owner.operation.name != op.name:
        return False
    rewriter.replace(op, [operand.owner.operation.operands[0]])
    return True


@pytest.mark.parametrize("top_down", [True, False])
def test_visits_each_op_in_order(module: IndexedModule, top_down: bool) -> None:
    visited: list[int] = []

    @pattern("stablehlo.negate")
    def record(op: ir.Operation, rewriter: Rewriter) -> bool:
        del rewriter
        visited.append(ir.IntegerAttr(op.attributes["id"]).value)
        return False

    assert rewrite_greedily(module, [record], top_down=top_down)
    # Erasing the dead cosine and sine queues their producer again, if it is not queued still.
    assert visited == ([0, 1, 2, 1] if top_down else [2, 1, 0])


def test_ops_without_uses_are_erased_but_not_those_with_effects(module: IndexedModule) -> None:
    assert rewrite_greedily(module, [])
    assert names(module) == [
        *["stablehlo.negate"] * 3,
        "stablehlo.custom_call",
        "func.return",
    ]


def test_runs_until_nothing_changes(module: IndexedModule) -> None:
    assert rewrite_greedily(module, [double_negation])
    assert names(module) == ["stablehlo.negate", "stablehlo.custom_call", "func.return"]
    assert not rewrite_greedily(module, [double_negation])


def test_the_pattern_of_greater_benefit_is_first(module: IndexedModule) -> None:
    tried: list[str] = []

    @pattern("stablehlo.custom_call")
    def second(op: ir.Operation, rewriter: Rewriter) -> bool:
        del op, rewriter
        tried.append("second")
        return False

    @pattern("stablehlo.custom_call", benefit=2)
    def first(op: ir.Operation, rewriter: Rewriter) -> bool:
        del op, rewriter
        tried.append("first")
        return False

    rewrite_greedily(module, [second, first])
    assert tried == ["first", "second"]


def test_a_pattern_is_named_after_its_function() -> None:
    assert double_negation.name == "double-negation"
