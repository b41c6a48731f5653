"""Suggestions for small programs: each is tried, and helps."""

from __future__ import annotations

import pytest

import sdy
from tests.corpus.resharding_programs import RESHARDING, WARNED_OF
from tests.unit.explain.programs import function

_BY_ROWS = '<@mesh, [{"model"}, {}]>'


def _annotated(name: str, rows: int, columns: int, said: str, label: str) -> str:
    attribute = f"sdy.sharding = #sdy.sharding<@mesh, {said}>"
    return f'%{name}: tensor<{rows}x{columns}xf32> {{{attribute}}} loc("{label}")'


def _two_layers() -> str:
    """Return two layers, of which both weights are split by columns.

    A device gathers the 8 KiB that it needs of each hidden value, for 6 KiB, and the 4 KiB of what
    the first layer gives, for 3 KiB: 15 KiB. With both `down` split by rows it sums up what each
    layer gives instead, for 6 KiB each: 12 KiB. With one of them alone, the sum of one layer costs
    what its gather did, and the first layer's result is still split by columns: 15 KiB again.
    """
    arguments, body, taken = [_annotated("x", 64, 32, '[{"data"}, {}]', "x")], "", "%x"
    for i in range(2):
        said = '[{}, {"model"}]'
        arguments.append(_annotated(f"up{i}", 32, 64, said, f"params[{i}]['up']"))
        arguments.append(_annotated(f"down{i}", 64, 32, said, f"params[{i}]['down']"))
        body += f"""
  %h{i} = stablehlo.dot {taken}, %up{i}
      : (tensor<64x32xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
  %d{i} = stablehlo.dot %h{i}, %down{i}
      : (tensor<64x64xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %s{i} = stablehlo.add {taken}, %d{i} : tensor<64x32xf32>"""
        taken = f"%s{i}"
    body += f"\n  return {taken} : tensor<64x32xf32>"
    return function(", ".join(arguments), "tensor<64x32xf32>", body)


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
        'annotate %arg1 (w) with sharding<@mesh, [{}, {"model"}]>: a device sends 64.0 KiB '
        "less of 64.0 KiB, 1 full rematerialization less"
    )


def test_annotations_that_are_alike_are_tried_together() -> None:
    explained = sdy.explain(_two_layers())
    (best,) = explained.suggestions()
    assert str(best) == (
        "annotate params[*]['down'] (2 arguments) with sharding<@mesh, [{\"model\"}, {}]>: "
        "a device sends 3.0 KiB less of 15.0 KiB"
    )
    assert [value.label for value in best.values] == ["params[0]['down']", "params[1]['down']"]
    assert best.value == best.values[0]
    alone = [explained.with_constraint(value, _BY_ROWS) for value in best.values]
    assert [each.totals.all.bytes for each in alone] == [best.bytes_before, best.bytes_before]
    together = explained.with_constraint(best.values, best.sharding)
    assert together.totals.all.bytes == best.bytes_after == 12 * 1024


def test_the_document_has_all_values_of_a_suggestion() -> None:
    explained = sdy.explain(_two_layers())
    document = explained.document(suggestions=1)
    (suggestion,) = document["suggestions"]
    numbers = [explained.value(f"params[{i}]['down']").number for i in range(2)]
    assert (suggestion["value"], suggestion["values"]) == (numbers[0], numbers)


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
