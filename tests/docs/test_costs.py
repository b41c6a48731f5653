"""The tables of docs/costs.md are what the code says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus.foretold import collectives_table, compiled, memory_table
from tests.versions import pinned

PAGE = Path(__file__).resolve().parents[2] / "docs" / "costs.md"


@pinned
@pytest.mark.slow
def test_tables_compare_with_what_xla_compiles() -> None:
    page = PAGE.read_text(encoding="utf-8")
    explained, found = compiled("cpu:8")
    assert collectives_table("cpu:8", explained, found) in page
    assert memory_table(explained, found) in page
