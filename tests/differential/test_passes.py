"""After each import and export pass, text and order of uses are those of the reference."""

from __future__ import annotations

import random

import pytest

from sdy.dialect.errors import Error
from tests.corpus.jax_programs import PROGRAMS
from tests.differential.comparison import check_passes, ours
from tests.differential.pass_lists import EXPORT, IMPORT
from tests.differential.pass_programs import EXPORT_PROGRAMS, IMPORT_PROGRAMS, OTHER_PROGRAMS
from tests.differential.random_programs import ProgramOptions, random_program
from tests.differential.reference import Reference

OTHERS = (
    "sdy-inline-meshes",
    "sdy-add-func-data-flow-edges",
    "func.func(sdy-explicit-gather-scatter-batching)",
    "func.func(sdy-sink-func-data-flow-edges)",
    "sdy-remove-sharding-groups",
    "sdy-drop-sharding-and-mesh",
    "sdy-remove-propagation-debug-info",
    "sdy-update-non-divisible-input-output-shardings",
    "sdy-remove-sub-axes-in-input-output-shardings",
)
SINK_DEBUG = "sink-debug-sharding-origins=true sink-debug-propagation-edge-sharding=true"


def compare(program: str, one: str, reference: Reference) -> None:
    """Compare after one pass; what the reference refuses ours refuses."""
    expected = reference.run(program, f"builtin.module({one})")
    if expected.error:
        with pytest.raises(Error):
            ours(program, f"builtin.module({one})")
    else:
        assert ours(program, f"builtin.module({one})") == expected


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_jax(name: str, reference: Reference) -> None:
    imported = check_passes(PROGRAMS[name](), IMPORT, reference)
    propagated = reference.run(imported.text, "builtin.module(sdy-user-priority-propagate)")
    check_passes(propagated.text, EXPORT, reference)
    for one in OTHERS:
        compare(propagated.text, one, reference)


@pytest.mark.parametrize("name", IMPORT_PROGRAMS)
def test_import(name: str, reference: Reference) -> None:
    check_passes(IMPORT_PROGRAMS[name], IMPORT, reference)


@pytest.mark.parametrize("name", EXPORT_PROGRAMS)
def test_export(name: str, reference: Reference) -> None:
    check_passes(EXPORT_PROGRAMS[name], EXPORT, reference)


SMALL_PROGRAMS = IMPORT_PROGRAMS | EXPORT_PROGRAMS | OTHER_PROGRAMS


@pytest.mark.parametrize("name", SMALL_PROGRAMS)
def test_alone(name: str, reference: Reference) -> None:
    program = SMALL_PROGRAMS[name]
    parsed = reference.run(program, "builtin.module(func.func(sdy-drop-sharding-rules))")
    assert not parsed.error
    for one in (*IMPORT, *EXPORT, *OTHERS):
        compare(program, one, reference)


def test_debug_information_of_edges_is_sunk(reference: Reference) -> None:
    program = """
        sdy.mesh @mesh = <["x"=2]>
        func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
          %0:2 = stablehlo.optimization_barrier %a, %a : tensor<4xf32>, tensor<4xf32>
          %1 = sdy.data_flow_edge %0#0 {sdy.sharding_origins = {x = "input: 0"}} : tensor<4xf32>
          %2 = sdy.data_flow_edge %0#1 : tensor<4xf32>
          %3 = stablehlo.add %1, %2 : tensor<4xf32>
          return %3 : tensor<4xf32>
        }"""
    check_passes(program, (f"func.func(sdy-sink-data-flow-edges{{{SINK_DEBUG}}})",), reference)


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed: int, reference: Reference) -> None:
    options = ProgramOptions(ops=8 + seed % 20)
    program = random_program(random.Random(seed).randrange, options)
    imported = check_passes(program, IMPORT, reference)
    propagated = reference.run(imported.text, "builtin.module(sdy-user-priority-propagate)")
    if not propagated.error:
        check_passes(propagated.text, EXPORT, reference)
