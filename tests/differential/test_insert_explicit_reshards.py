"""Our `sdy-insert-explicit-reshards` and the reference's give the same text and orders of uses.

Both versions: the one that inserts what must be, and the full one.
"""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest

from sdy.dialect.errors import Error
from tests.corpus.jax_programs import PROGRAMS
from tests.differential.call_programs import CALL_PROGRAMS, random_call_program
from tests.differential.collective_programs import random_program as random_collectives
from tests.differential.comparison import ours
from tests.differential.pass_lists import PROPAGATION_WITH_RULES
from tests.differential.random_programs import ProgramOptions, random_program
from tests.differential.reference import Reference
from tests.differential.scattered_shardings import scatter_shardings

VERSIONS = ("", "{enable-full-version=true}")
IMPORT = (
    "sdy-lift-inlined-meshes,sdy-remove-size-one-axes,sdy-propagate-sharding-from-func-to-call,"
    "sdy-constant-or-scalar-splitter,sdy-manual-axes-cleanup,sdy-add-data-flow-edges,"
    "sdy-apply-sharding-constraints,sdy-sharding-group-import,sdy-pre-order-funcs"
)
BEFORE_RESHARDS = (
    "func.func(sdy-constant-or-scalar-merger),func.func(sdy-sink-data-flow-edges),"
    "sdy-remove-sharding-groups,func.func(sdy-sharding-constraint-to-reshard),"
    "sdy-update-non-divisible-input-output-shardings,"
    "sdy-remove-sub-axes-in-input-output-shardings,sdy-close-shardings"
)
PROPAGATED = f"builtin.module({IMPORT},{PROPAGATION_WITH_RULES})"
EXPORTED = f"builtin.module({IMPORT},{PROPAGATION_WITH_RULES},{BEFORE_RESHARDS})"


def check(program: str, reference: Reference) -> None:
    """Compare both versions; where the reference fails, we answer or raise an error."""
    for version in VERSIONS:
        pipeline = f"builtin.module(func.func(sdy-insert-explicit-reshards{version}))"
        expected = reference.run(program, pipeline)
        if not expected.error:
            assert ours(program, pipeline) == expected, pipeline
            continue
        with suppress(Error):
            assert ours(program, pipeline).text


def check_after(passes: str, program: str, reference: Reference) -> None:
    """Compare on what passes of the reference make of a program, if it does not die of it."""
    before = reference.run(program, passes)
    if not before.error:
        check(before.text, reference)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_jax(name: str, reference: Reference) -> None:
    for passes in (PROPAGATED, EXPORTED):
        check_after(passes, PROGRAMS[name](), reference)


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed: int, reference: Reference) -> None:
    options = ProgramOptions(ops=8 + seed % 20)
    program = random_program(Random(seed).randrange, options)
    check_after((PROPAGATED, EXPORTED)[seed % 2], program, reference)


@pytest.mark.parametrize("seed", range(150))
def test_shardings_that_have_not_met(seed: int, reference: Reference) -> None:
    """Shardings at random, on meshes with two orders of devices: all is in conflict."""
    options = ProgramOptions(ops=8 + seed % 20)
    program = random_program(Random(seed).randrange, options)
    scattered = scatter_shardings(program, Random(seed), reverses_devices=seed % 3 == 0)
    check(scattered, reference)


@pytest.mark.parametrize("batch", range(6))
def test_collectives_and_unreduced_axes(batch: int, reference: Reference) -> None:
    for seed in range(20 * batch, 20 * batch + 20):
        check(random_collectives(seed), reference)


@pytest.mark.parametrize("name", CALL_PROGRAMS)
def test_calls(name: str, reference: Reference) -> None:
    check(CALL_PROGRAMS[name], reference)


@pytest.mark.parametrize("batch", range(3))
def test_random_calls(batch: int, reference: Reference) -> None:
    for seed in range(20 * batch, 20 * batch + 20):
        check(random_call_program(Random(seed)), reference)


UNREDUCED = """
    sdy.mesh @mesh = <["x"=2, "y"=2, "z"=4]>
    func.func @main(
        %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y", "z":(1)2}]>},
        %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "z":(1)2}, {}]>},
        %c: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>},
        %i: tensor<i32>)
        -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
            tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x", "y"}>},
            tensor<8x8xf32>,
            tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding =
        #sdy.sharding_per_value<[<@mesh, [{"x"}, {}], unreduced={"y"}>]>}
        : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %1 = sdy.propagation_barrier %c allowed_direction=NONE : tensor<8x8xf32>
      %2 = stablehlo.concatenate %c, %c, dim = 0 {sdy.sharding =
        #sdy.sharding_per_value<[<@mesh, [{}, {"z"}]>]>}
        : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
      %3 = stablehlo.slice %2 [0:8, 0:8] {sdy.sharding =
        #sdy.sharding_per_value<[<@mesh, [{}, {"z"}]>]>} : (tensor<16x8xf32>) -> tensor<8x8xf32>
      %4 = stablehlo.dynamic_update_slice %3, %c, %i, %i
        : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<i32>, tensor<i32>) -> tensor<8x8xf32>
      %5:2 = stablehlo.while(%n = %c, %m = %i) : tensor<8x8xf32>, tensor<i32>
        attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>, <@mesh, []>]>}
      cond {
        %6 = stablehlo.compare LT, %m, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %6 : tensor<i1>
      } do {
        %7 = stablehlo.add %n, %c {sdy.sharding =
          #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : tensor<8x8xf32>
        stablehlo.return %7, %m : tensor<8x8xf32>, tensor<i32>
      }
      return %0, %c, %4, %5#0
        : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
    }
"""


def test_ops_with_unreduced_axes(reference: Reference) -> None:
    check(UNREDUCED, reference)
