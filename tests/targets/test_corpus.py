"""The corpus of programs compiled ahead of time, and compared with XLA's own Shardy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus.compiled import OURS, SHARDY, compile_corpus
from tests.targets.programs import COMPILED, DIFFERENT, TARGETS
from tests.versions import pinned


@pinned
@pytest.mark.parametrize("target", TARGETS)
def test_collectives_are_those_of_xlas_shardy(target: str, tmp_path: Path) -> None:
    ours, shardys = (
        compile_corpus(way, target, COMPILED, tmp_path / way) for way in (OURS, SHARDY)
    )
    different = {n for n in COMPILED if ours[n].collectives != shardys[n].collectives}
    assert different == set(DIFFERENT[target])
