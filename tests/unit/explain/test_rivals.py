"""Annotations that won are opened: the axis that lost may come then."""

from __future__ import annotations

import sdy
from sdy.explain.rivals import rival_annotations
from tests.unit.explain.programs import function

PROGRAM = function(
    '%x: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {?}]>}, '
    '%up: tensor<32x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, '
    "%down: tensor<128x32xf32>, "
    '%bias: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"data"}]>}',
    "tensor<64x32xf32>",
    """
  %0 = stablehlo.dot %x, %up : (tensor<64x32xf32>, tensor<32x128xf32>) -> tensor<64x128xf32>
  %1 = stablehlo.dot %0, %down : (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  %2 = stablehlo.add %1, %bias : tensor<64x32xf32>
  return %2 : tensor<64x32xf32>""",
)


def test_the_annotation_that_won_is_opened() -> None:
    explanation = sdy.explain(PROGRAM)
    _, dot = (op for op in explanation.ops if op.name == "stablehlo.dot")
    ((rival, sharding),) = rival_annotations(explanation._traced, dot.operands[0], dot.number)
    assert rival.name == "%arg3"
    assert str(sharding) == "sharding<@mesh, [{?}, {?}]>"


def test_an_annotation_that_closes_a_dimension_has_the_axis_there_instead() -> None:
    program = function(
        '%x: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}, '
        '%w: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}',
        "tensor<64x16xf32>",
        """
  %0 = stablehlo.dot %x, %w : (tensor<64x32xf32>, tensor<32x16xf32>) -> tensor<64x16xf32>
  return %0 : tensor<64x16xf32>""",
    )
    explanation = sdy.explain(program)
    (dot,) = (op for op in explanation.ops if op.name == "stablehlo.dot")
    ((rival, sharding),) = rival_annotations(explanation._traced, dot.operands[0], dot.number)
    assert rival.name == "%arg1"
    assert str(sharding) == 'sharding<@mesh, [{"model"}, {}]>'


def test_that_is_suggested_where_it_saves_something() -> None:
    explanation = sdy.explain(PROGRAM)
    best, *_ = explanation.suggestions()
    assert (best.value.name, str(best.sharding)) == ("%arg3", "sharding<@mesh, [{?}, {?}]>")
    assert best.bytes_after < best.bytes_before
    assert str(best).startswith("take the annotation off %arg3: ")
