"""Propagation gives the reference's answers, on programs of JAX and on random ones."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sdy.dialect.errors import Error
from sdy.ir.indexed_module import IndexedModule
from sdy.passes.propagation.graph import Graph
from tests.corpus.jax_programs import PROGRAMS
from tests.differential.comparison import ours as run_ours
from tests.differential.pass_lists import IMPORT_WITH_CALLS
from tests.differential.random_programs import ProgramOptions, random_program
from tests.differential.reference import Reference

IMPORT = ",".join(IMPORT_WITH_CALLS)

PROPAGATION = (
    "sdy-basic-propagate",
    "sdy-basic-propagate{conservative-propagation=true}",
    "sdy-aggressive-propagate",
    "sdy-aggressive-propagate{propagation-strategy=basic-then-aggressive}",
    "sdy-op-priority-propagate",
    "sdy-op-priority-propagate{run-op-priority-propagation=false}",
    "sdy-user-priority-propagate",
    "sdy-user-priority-propagate{keep-sharding-rules=true}",
)


# A group that has the result of a manual computation: the others get what the body sees.
GROUP_ACROSS_MANUAL_AXES = """
sdy.mesh @mesh = <["x"=2, "y"=3]>
func.func @main(%a0: tensor<2x2xf32>, %a1: tensor<2x2xf32>, %a2: tensor<8x2xf32>)
    -> (tensor<8x2xf32>, tensor<8x2xf32>) {
  %v1 = stablehlo.cholesky %a1, lower = true : tensor<2x2xf32>
  %v2 = sdy.sharding_constraint %a0 <@mesh, [{}, {"x", "y", ?}]> : tensor<2x2xf32>
  %v4 = stablehlo.constant dense<0> : tensor<i32>
  %v3:3 = stablehlo.while(%i = %v4, %a = %a2, %b = %v1)
      : tensor<i32>, tensor<8x2xf32>, tensor<2x2xf32>
  cond {
    %n = stablehlo.constant dense<4> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return %i, %a, %b : tensor<i32>, tensor<8x2xf32>, tensor<2x2xf32>
  }
  %v6 = stablehlo.transpose %v1, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %v11 = sdy.manual_computation(%v3#2) in_shardings=[<@mesh, [{"x", ?}, {?}]>]
      out_shardings=[<@mesh, [{"x", ?}, {?}]>] manual_axes={"x"} (%v9: tensor<1x2xf32>) {
    %v10:2 = stablehlo.optimization_barrier %v9, %v9 : tensor<1x2xf32>, tensor<1x2xf32>
    sdy.return %v10#1 : tensor<1x2xf32>
  } : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %v12 = stablehlo.custom_call @annotate_device_placement(%v3#1)
      : (tensor<8x2xf32>) -> tensor<8x2xf32>
  %v22 = stablehlo.dot_general %v12, %v2, contracting_dims = [1] x [0]
      : (tensor<8x2xf32>, tensor<2x2xf32>) -> tensor<8x2xf32>
  %v23 = stablehlo.dot_general %v22, %v1, contracting_dims = [1] x [0]
      : (tensor<8x2xf32>, tensor<2x2xf32>) -> tensor<8x2xf32>
  %v24 = stablehlo.reverse %v12, dims = [0] : tensor<8x2xf32>
  sdy.sharding_group %v6 group_id=1 : tensor<2x2xf32>
  sdy.sharding_group %v11 group_id=1 : tensor<2x2xf32>
  return %v23, %v24 : tensor<8x2xf32>, tensor<8x2xf32>
}
"""


def ours(program: str, passes: str) -> str:
    """Return the text of a program after passes of ours."""
    return run_ours(program, f"builtin.module({passes})").text


def imported(reference: Reference, program: str) -> str | None:
    """Return a program after the reference's import passes; None where it refuses it."""
    after = reference.run(program, f"builtin.module({IMPORT})")
    return None if after.error else after.text


# Rows and columns want the axis of %k: whoever is visited first gets it.
ROWS_AGAINST_COLUMNS = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(
    %z: tensor<4x4xf32>,
    %k: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %a = stablehlo.tanh %z : tensor<4x4xf32>
  %u = stablehlo.tanh %a : tensor<4x4xf32>
  %v = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %w = stablehlo.add %u, %v : tensor<4x4xf32>
  %p = stablehlo.add %a, %k : tensor<4x4xf32>
  return %w, %p : tensor<4x4xf32>, tensor<4x4xf32>
}
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_jax(name: str, reference: Reference) -> None:
    program = imported(reference, PROGRAMS[name]())
    assert program is not None
    for passes in PROPAGATION:
        expected = reference.run(program, f"builtin.module({passes})")
        assert ours(program, passes) == expected.text, passes


def test_a_group_across_manual_axes(reference: Reference) -> None:
    check_program(GROUP_ACROSS_MANUAL_AXES, reference)


@pytest.mark.parametrize("passes", PROPAGATION)
def test_the_order_of_visits(passes: str, reference: Reference) -> None:
    expected = reference.run(ROWS_AGAINST_COLUMNS, f"builtin.module({passes})")
    assert not expected.error
    assert ours(ROWS_AGAINST_COLUMNS, passes) == expected.text


def seeded_program(seed: int) -> str:
    """Return a random program; every other one is made for conflicts."""
    options = ProgramOptions(ops=8 + seed % 20, conflicts=seed % 2 == 0)
    return random_program(random.Random(seed).randrange, options)


@pytest.mark.parametrize("seed", range(150))
def test_random_programs(seed: int, reference: Reference) -> None:
    check_program(seeded_program(seed), reference)


def test_the_order_of_uses_decides_a_tenth_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    read = Graph.__init__
    shuffle = random.Random(0).shuffle

    def read_in_any_order(graph: Graph, module: IndexedModule) -> None:
        read(graph, module)
        for value, users in enumerate(graph.users):
            places = list(range(len(users)))
            shuffle(places)
            graph.structure.use_orders[value] = dict(enumerate(places))

    def answer(program: str) -> str:
        try:
            return ours(program, f"{IMPORT},sdy-user-priority-propagate")
        except Error as error:
            return str(error)

    def depends_on_order(program: str) -> bool:
        in_given_order = answer(program)
        with monkeypatch.context() as patch:
            patch.setattr(Graph, "__init__", read_in_any_order)
            return any(answer(program) != in_given_order for _ in range(4))

    programs = [seeded_program(seed) for seed in range(60)]
    assert sum(map(depends_on_order, programs)) >= len(programs) / 10


@given(data=st.data())
@settings(
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_random_programs_that_shrink(data: st.DataObject, reference: Reference) -> None:
    def choose(bound: int) -> int:
        return data.draw(st.integers(0, bound - 1))

    check_program(random_program(choose, ProgramOptions(ops=8)), reference)


def check_program(text: str, reference: Reference) -> None:
    """Compare one program; where the reference dies of it, ours gives an answer."""
    program = imported(reference, text)
    if program is None:
        return
    expected = reference.run(program, "builtin.module(sdy-user-priority-propagate)")
    answer = ours(program, "sdy-user-priority-propagate")
    if not expected.error:
        assert answer == expected.text
