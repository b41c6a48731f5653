"""Random programs: explained as they are propagated, and nothing is left without an answer."""

from __future__ import annotations

import random

import pytest

import sdy
from tests.differential.random_programs import ProgramOptions, random_program


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.filterwarnings("ignore::sdy.ShardingWarning")
def test_random_programs_are_explained(seed: int) -> None:
    options = ProgramOptions(ops=8 + seed % 20, conflicts=seed % 4 == 0)
    program = random_program(random.Random(seed).randrange, options)
    dedup_functions_fully = seed % 3 == 0
    explanation = sdy.explain(program, dedup_functions_fully=dedup_functions_fully)
    propagated = sdy.propagate(program, dedup_functions_fully=dedup_functions_fully)
    assert str(explanation.module) == str(propagated)
    for value in explanation.values:
        why = explanation.why(value)
        assert str(why).startswith(str(value))
        answered = {chain.end.dim for chain in why.chains} | {each.dim for each in why.why_not}
        assert why.came_from is not None or answered == set(range(len(value.shape)))
        split = {
            d
            for d in range(len(value.shape))
            if value.sharding and value.sharding.dimensions and value.sharding.dimensions[d].axes
        }
        assert why.came_from is not None or split <= {chain.end.dim for chain in why.chains}
        for chain in why.chains:
            assert chain.annotation is not None
            assert all(arrival.move is not None for arrival in chain.arrivals[1:])
    assert explanation.to_json().isascii()
