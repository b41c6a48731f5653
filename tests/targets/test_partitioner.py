"""What is foretold against programs that are compiled for TPUs."""

from __future__ import annotations

from pathlib import Path

from tests.corpus.foretold import collectives_table, compiled
from tests.versions import pinned

PAGE = Path(__file__).resolve().parents[2] / "docs" / "costs.md"


@pinned
def test_the_table_compares_with_what_xla_compiles_for_tpus() -> None:
    explained, found = compiled("tpu:v5e:2x4")
    assert collectives_table("tpu:v5e:2x4", explained, found) in PAGE.read_text(encoding="utf-8")
