"""Suggestions for small programs: each is tried, and helps."""

from __future__ import annotations

import pytest

import sdy
from tests.corpus.resharding_programs import RESHARDING, WARNED_OF


@pytest.mark.parametrize("name", WARNED_OF)
def test_the_best_suggestion_does_what_it_says(name: str) -> None:
    explained = sdy.explain(RESHARDING[name]())
    best, *others = explained.suggestions()
    assert best.bytes_after < best.bytes_before
    assert best.rematerializations_after < best.rematerializations_before
    assert all(other.bytes_after >= best.bytes_after for other in others)
    after = explained.with_constraint(best.value, best.sharding).communication
    assert sum(point.bytes for point in after) == best.bytes_after
    assert sum(point.rematerializes for point in after) == best.rematerializations_after


def test_a_suggestion_is_a_sentence() -> None:
    (best, *_) = sdy.explain(RESHARDING["weights_stored_otherwise"]()).suggestions()
    assert str(best) == (
        'annotate %arg1 (w) with sharding<@mesh, [{}, {"model"}]>: a device sends 65536 bytes '
        "less of 65536, 1 full rematerialization less"
    )


def test_with_a_topology_time_decides() -> None:
    best, *_ = sdy.explain(RESHARDING["cached_keys"](), topology="h100:8").suggestions()
    assert best.seconds_before is not None
    assert best.seconds_after is not None
    assert best.seconds_after < best.seconds_before


def test_nothing_is_suggested_where_nothing_helps() -> None:
    text = """
    sdy.mesh @mesh = <["x"=4]>
    func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
        -> tensor<8xf32> {
      %c = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [1]
          : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    }"""
    assert sdy.explain(text).suggestions() == ()
