"""Origins and propagation edges are the reference's, on programs of JAX and on random ones.

The reference is asked only what it has an answer to. It reads freed memory where dead ops are
erased, where an op brings a sharding of its own, and where a sharding group hands one on; and it
fails on edges of loops and branches, for which it names operands that they do not have.
"""

from __future__ import annotations

import random
import re

import pytest

from tests.corpus.jax_programs import PROGRAMS
from tests.differential.comparison import ours as run_ours
from tests.differential.pass_lists import IMPORT_WITH_CALLS
from tests.differential.random_programs import ProgramOptions, random_program
from tests.differential.reference import Reference

ORIGINS = "debug-sharding-origins=true"
EDGES = "debug-propagation-edge-sharding=true"
OPTIONS = (ORIGINS, EDGES, f"{ORIGINS} {EDGES}")
SINK_OPTIONS = {
    ORIGINS: "sink-debug-sharding-origins=true",
    EDGES: "sink-debug-propagation-edge-sharding=true",
}

IMPORT = ",".join(IMPORT_WITH_CALLS)
BEFORE_CONSTRAINTS = IMPORT.partition(",sdy-apply-sharding-constraints")[0]

_OP_SHARDING = re.compile(r" \{sdy\.sharding = #sdy\.sharding_per_value<\[<[^\n]*?>\]>\}")
_NO_SUCH_OPERAND = "expected a value ref to have an operand index"


def ours(program: str, passes: str) -> str:
    """Return the text of a program after passes of ours."""
    return run_ours(program, f"builtin.module({passes})").text


def check(reference: Reference, program: str, passes: str) -> None:
    """Compare after `passes`; where the reference names operands that are not there, ours works."""
    expected = reference.run(program, f"builtin.module({passes})")
    answer = ours(program, passes)
    if _NO_SUCH_OPERAND not in expected.error:
        assert answer == expected.text, passes


def random_input(reference: Reference, seed: int, imports: str, *, groups: bool = False) -> str:
    """Return a random program without dead ops, and without shardings of ops' own."""
    options = ProgramOptions(ops=8 + seed % 16, groups=groups)
    program = _OP_SHARDING.sub("", random_program(random.Random(seed).randrange, options))
    after = reference.run(program, f"builtin.module({imports},trivial-dce)")
    assert not after.error
    return after.text


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_jax(name: str, reference: Reference) -> None:
    program = reference.run(PROGRAMS[name](), f"builtin.module({IMPORT})").text
    for options in (EDGES,) if "sdy.sharding_group" in program else OPTIONS:
        check(reference, program, f"sdy-user-priority-propagate{{{options}}}")


@pytest.mark.parametrize("seed", range(80))
def test_random_programs(seed: int, reference: Reference) -> None:
    program = random_input(reference, seed, IMPORT)
    for options in OPTIONS:
        check(reference, program, f"sdy-user-priority-propagate{{{options}}}")


@pytest.mark.parametrize("seed", range(100, 130))
def test_edges_of_random_programs_with_groups(seed: int, reference: Reference) -> None:
    program = random_input(reference, seed, IMPORT, groups=True)
    check(reference, program, f"sdy-op-priority-propagate{{{EDGES}}}")


@pytest.mark.parametrize("seed", range(200, 230))
def test_constraints_that_are_applied(seed: int, reference: Reference) -> None:
    program = random_input(reference, seed, BEFORE_CONSTRAINTS)
    for option, sink_option in SINK_OPTIONS.items():
        apply = f"sdy-apply-sharding-constraints{{{option}}}"
        check(reference, program, apply)
        propagate = f"sdy-aggressive-propagate{{{option}}}"
        sink = f"func.func(sdy-sink-data-flow-edges{{{sink_option}}})"
        check(reference, program, f"{apply},{propagate},{sink}")
