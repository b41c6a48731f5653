"""How often ops run: the turns of loops that count."""

from __future__ import annotations

import pytest
from jaxlib.mlir import ir

import sdy
from sdy.explain.repetitions import trip_count
from sdy.ir.values import operations

LOOP = """
func.func @main(%a: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {{
  %start = stablehlo.constant dense<{start}> : tensor<i32>
  %step = stablehlo.constant dense<{step}> : tensor<i32>
  %end = stablehlo.constant dense<{end}> : tensor<i32>
  %r:2 = stablehlo.while(%i = %start, %x = %a) : tensor<i32>, tensor<4xf32>
  cond {{
    %c = stablehlo.compare {test}, %i, {limit} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }} do {{
    %j = stablehlo.add %i, %step : tensor<i32>
    stablehlo.return %j, %x : tensor<i32>, tensor<4xf32>
  }}
  return %r#1 : tensor<4xf32>
}}
"""


def turns(
    start: int = 0, step: int = 1, end: int = 10, test: str = "LT", limit: str = "%end"
) -> int | None:
    text = LOOP.format(start=start, step=step, end=end, test=test, limit=limit)
    module = sdy.load(text)
    (loop,) = (op for op in operations(module.operation) if op.name == "stablehlo.while")
    assert isinstance(loop, ir.Operation)
    return trip_count(loop)


@pytest.mark.parametrize(
    ("start", "step", "end", "expected"),
    [(0, 1, 10, 10), (2, 3, 10, 3), (5, 1, 5, 0), (7, 1, 5, 0)],
)
def test_counting_loops(start: int, step: int, end: int, expected: int) -> None:
    assert turns(start, step, end) == expected


def test_other_loops_are_not_known() -> None:
    assert turns(test="GT") is None
    assert turns(step=0) is None
    assert turns(limit="%n") is None
