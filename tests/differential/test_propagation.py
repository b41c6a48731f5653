"""Propagation gives the reference's answers, on programs of JAX and on random ones."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jaxlib.mlir import ir

from sdy.dialect.errors import Error
from sdy.ir.context import make_context
from sdy.passes.pipeline import run_pipeline
from sdy.passes.propagation.graph import Graph
from tests.corpus.jax_programs import PROGRAMS
from tests.differential.random_programs import ProgramOptions, random_program
from tests.differential.reference import Reference, snapshot

IMPORT = (
    "symbol-dce,sdy-lift-inlined-meshes,sdy-remove-size-one-axes,"
    "sdy-propagate-sharding-from-func-to-call,sdy-constant-or-scalar-splitter,symbol-dce,"
    "sdy-manual-axes-cleanup,sdy-add-data-flow-edges,sdy-flatten-call-graph,symbol-dce,"
    "sdy-import-func-calls,symbol-dce,sdy-apply-sharding-constraints,sdy-sharding-group-import,"
    "sdy-pre-order-funcs"
)

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


@pytest.fixture(scope="module")
def reference() -> Iterator[Reference]:
    with Reference() as client:
        yield client


def ours(program: str, passes: str) -> str:
    """Return the text of a program after passes of ours."""
    with make_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = ir.Module.parse(program)
        run_pipeline(module, f"builtin.module({passes})")
        return snapshot(module).text


def imported(reference: Reference, program: str) -> str | None:
    """Return a program after the reference's import passes; None where it refuses it."""
    after = reference.run(program, f"builtin.module({IMPORT})")
    return None if after.error else after.text


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_jax(name: str, reference: Reference) -> None:
    program = imported(reference, PROGRAMS[name]())
    assert program is not None
    for passes in PROPAGATION:
        expected = reference.run(program, f"builtin.module({passes})")
        assert ours(program, passes) == expected.text, passes


def seeded_program(seed: int) -> str:
    """Return a random program; every other one is made for conflicts."""
    options = ProgramOptions(ops=8 + seed % 20, conflicts=seed % 2 == 0)
    return random_program(random.Random(seed).randrange, options)


@pytest.mark.parametrize("seed", range(150))
def test_random_programs(seed: int, reference: Reference) -> None:
    check_random_program(seeded_program(seed), reference)


def test_the_order_of_uses_decides_a_tenth_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    in_order = Graph.uses
    shuffle = random.Random(0).shuffle

    def in_any_order(graph: Graph, value: int) -> list[tuple[int, int]]:
        uses = list(in_order(graph, value))
        shuffle(uses)
        return uses

    def answer(program: str) -> str:
        try:
            return ours(program, f"{IMPORT},sdy-user-priority-propagate")
        except Error as error:
            return str(error)

    def depends_on_order(program: str) -> bool:
        in_given_order = answer(program)
        with monkeypatch.context() as patch:
            patch.setattr(Graph, "uses", in_any_order)
            return any(answer(program) != in_given_order for _ in range(4))

    programs = [seeded_program(seed) for seed in range(60)]
    assert sum(map(depends_on_order, programs)) >= len(programs) / 10


@given(data=st.data())
@settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_random_programs_that_shrink(data: st.DataObject, reference: Reference) -> None:
    def choose(bound: int) -> int:
        return data.draw(st.integers(0, bound - 1))

    check_random_program(random_program(choose, ProgramOptions(ops=8)), reference)


def check_random_program(text: str, reference: Reference) -> None:
    """Compare one program; where the reference dies of it, ours gives an answer."""
    program = imported(reference, text)
    if program is None:
        return
    expected = reference.run(program, "builtin.module(sdy-user-priority-propagate)")
    answer = ours(program, "sdy-user-priority-propagate")
    if not expected.error:
        assert answer == expected.text
