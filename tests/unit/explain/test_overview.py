"""The program as a whole, as lines: what is alike is told of once, and where it is."""

from __future__ import annotations

import sdy
from tests.unit.explain.programs import MESH, function

_ROWS = '{sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}'
_COLUMNS = '{sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>}'


def lines(program: str) -> list[str]:
    return [line.strip() for line in str(sdy.explain(program)).splitlines()]


def test_only_the_numbers_that_differ_are_stars() -> None:
    weights = "\n".join(
        f"""%{name}{layer}: tensor<8x8xf32> {said} loc("p[{layer}]['{name}']"),"""
        for layer in range(2)
        for name, said in (("w1", _ROWS), ("w2", _COLUMNS))
    )
    program = function(weights + "%x: tensor<8xf32>", "tensor<8xf32>", "return %x : tensor<8xf32>")
    told = lines(program)
    assert """2 x  argument %arg* (p[*]['w1'])  <@mesh, [{"data"}, {}]>""" in told
    assert """2 x  argument %arg* (p[*]['w2'])  <@mesh, [{}, {"data"}]>""" in told


def test_a_value_that_has_lost_its_axes_is_whole_for_that_reason() -> None:
    program = function(
        f"%x: tensor<9x8xf32> {_ROWS}", "tensor<9x8xf32>", "return %x : tensor<9x8xf32>"
    )
    told = lines(program)
    reason = told[told.index("288 B  %arg0           tensor<9x8xf32>") + 1]
    assert reason.startswith('dimension 0 lost "data" again: 2 parts do not divide its size 9')


def called(*calls: str) -> str:
    """Return a program that sums up in a function without places, called from some lines."""
    body = "\n".join(
        f'%{i} = func.call @sum(%x) : (tensor<8xf32>) -> tensor<f32> loc("model.py":{line}:1)'
        for i, line in enumerate(calls)
    )
    return f"""{MESH}
func.func @main(%x: tensor<8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"data"}}]>}})
    -> tensor<f32> {{
  {body}
  return %0 : tensor<f32>
}}
func.func private @sum(%x: tensor<8xf32>) -> tensor<f32> {{
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [0]
    : (tensor<8xf32>, tensor<f32>) -> tensor<f32> loc(unknown)
  return %1 : tensor<f32>
}}
"""


def test_what_communicates_in_a_function_without_places_is_where_that_is_called() -> None:
    assert "1 collective  4 B  model.py:7" in lines(called("7"))
    assert "2 collectives  8 B  model.py:7" in lines(called("7", "7"))
    assert "2 collectives  8 B  at no known line" in lines(called("7", "8"))
