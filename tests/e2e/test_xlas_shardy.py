"""XLA makes the same of our shardings as of those of its own Shardy: exchanges and numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.corpus.compiled import OURS, SHARDY, compile_corpus
from tests.corpus.jax_programs import PROGRAMS
from tests.versions import pinned

# XLA's FFT for CPUs refuses layouts that XLA itself chose, both ways alike.
_DOES_NOT_RUN = {"fft_round_trip"}

RUNS = tuple(name for name in PROGRAMS if name not in _DOES_NOT_RUN)


@pinned
@pytest.mark.slow
def test_collectives_and_numbers_are_those_of_xlas_shardy(tmp_path: Path) -> None:
    ours, shardys = (compile_corpus(way, "cpu:8", RUNS, tmp_path / way) for way in (OURS, SHARDY))
    assert {n: ours[n].collectives for n in RUNS} == {n: shardys[n].collectives for n in RUNS}
    for name in RUNS:
        for mine, reference in zip(ours[name].results, shardys[name].results, strict=True):
            assert _difference(mine, reference) < 1e-5, name
    kinds = {kind for outcome in ours.values() for kind, _, _ in outcome.collectives}
    assert kinds >= {"all-gather", "all-reduce", "all-to-all", "collective-permute"}


def _difference(mine: np.ndarray, reference: np.ndarray) -> float:
    """Return the largest difference, for numbers of the size of the largest one."""
    mine, reference = mine.astype(np.float64), reference.astype(np.float64)
    return float(np.max(np.abs(mine - reference)) / max(1.0, np.max(np.abs(reference))))
