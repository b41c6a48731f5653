"""Points of communication of small programs: where, why, what and how often."""

from __future__ import annotations

import pytest

import sdy
from sdy.explain.communication import Communication
from sdy.explain.partitioner import program_walk
from sdy.explain.partitioner.op_case import OpCase, OpExchange
from sdy.explain.partitioner.strategies import exchanges_of
from sdy.explain.rematerialization import rematerialization_warnings
from sdy.ir.diagnostics import render
from tests.corpus.jax_programs import PROGRAMS, train_step
from tests.corpus.resharding_programs import RESHARDING

MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>\n'
DOT = """
func.func @main(
    %a: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %b: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x16xf32> {
  %0 = stablehlo.dot %a, %b : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
"""
RETURNED = """
func.func @main(%a: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> (tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  return %a : tensor<8x32xf32>
}
"""


def found_in(text: str) -> tuple[sdy.Explanation, tuple[Communication, ...]]:
    explanation = sdy.explain(MESH + text)
    return explanation, explanation.communication


def test_a_contraction_leaves_parts_of_a_sum() -> None:
    explained, (point,) = found_in(DOT)
    assert point.reason == "reduction"
    assert point.op is not None
    assert point.value is not None
    assert explained.ops[point.op].name == "stablehlo.dot"
    assert explained.values[point.value].name == "%0"
    (collective,) = point.collectives
    assert (collective.kind, list(map(str, collective.axes))) == ("all-reduce", ['"y"'])
    # [4, 16] floats; a ring of four sends three quarters of them twice.
    assert collective.size == 4 * 16 * 4
    assert point.bytes == 2 * 4 * 16 * 4 * 3 // 4
    assert list(map(str, point.from_.unreduced)) == ['"y"']


def test_a_result_is_brought_to_the_sharding_that_its_function_says() -> None:
    explained, (point,) = found_in(RETURNED)
    assert point.reason == "reshard"
    assert point.op is not None
    assert explained.ops[point.op].name == "func.return"
    assert (point.shape, point.element_type) == ((8, 32), "f32")
    assert [c.kind for c in point.collectives] == ["all-gather"]


def test_seconds_need_a_topology() -> None:
    assert found_in(DOT)[1][0].seconds is None
    (point,) = sdy.explain(MESH + DOT, topology="v5e:2x4").communication
    (collective,) = point.collectives
    # Along four chips in a line, twice, three hops each.
    assert collective.seconds is not None
    assert abs(collective.seconds - 2 * (4 * 16 * 4 * 3 / 4 / 50e9 + 3e-6)) < 1e-12


def test_two_ops_that_need_the_same_reshard_share_it() -> None:
    program = """
func.func @main(%a: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %b: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
    -> (tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
        tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
  %0 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
      : tensor<8x32xf32>
  %1 = stablehlo.multiply %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
      : tensor<8x32xf32>
  return %0, %1 : tensor<8x32xf32>, tensor<8x32xf32>
}
"""
    _, points = found_in(program)
    assert [[c.kind for c in point.collectives] for point in points] == [["all-to-all"]]


def test_loops_and_calls_count() -> None:
    scanned = sdy.explain(PROGRAMS["train_step_scanned_with_remat"]()).communication
    assert {point.times for point in scanned} == {1, 3}
    (called,) = sdy.explain(PROGRAMS["nested_jit"]()).communication
    assert (called.times, called.copies) == (2, 2)


def test_collectives_that_a_program_has_itself() -> None:
    (point,) = sdy.explain(PROGRAMS["shard_map_full"]()).communication
    assert (point.reason, [c.kind for c in point.collectives]) == ("explicit", ["all-reduce"])


def test_equal_layers_are_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def distinct_ops(layers: int) -> int:
        cases: list[OpCase] = []

        def counted(case: OpCase) -> tuple[OpExchange, ...]:
            cases.append(case)
            return exchanges_of(case)

        monkeypatch.setattr(program_walk, "exchanges_of", counted)
        program_walk.foretell(sdy.explain(train_step(layers)).module)
        return len(cases)

    assert distinct_ops(2) == distinct_ops(3) < 200


def test_totals_are_the_sums_of_the_points() -> None:
    explained = sdy.explain(PROGRAMS["mlp_gradient"](), topology="h100:8")
    points, totals = explained.communication, explained.totals
    assert totals.all.bytes == sum(point.bytes for point in points)
    for sums in (totals.by_kind, totals.by_axes, totals.by_line):
        assert sum(total.bytes for total in sums.values()) == totals.all.bytes
        assert sum(total.count for total in sums.values()) == totals.all.count
    assert totals.all.seconds is not None
    assert set(totals.by_kind) == {"all-gather", "all-reduce"}
    assert set(totals.by_axes) == {"data", "model"}


def test_a_warning_has_the_line_of_the_op() -> None:
    points = sdy.explain(RESHARDING["gradient_layout"]()).communication
    (warning,) = rematerialization_warnings(points)
    assert warning.file is not None
    assert warning.file.endswith(".py")
    assert any(note.file and note.file.endswith("resharding_programs.py") for note in warning.notes)
    text = render(warning)
    assert 'f32[64,128] to bring it from sharding<@mesh, [{"data"}, {}]>' in text
