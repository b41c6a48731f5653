"""What all tests against the reference share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.differential.reference import Reference
from tests.versions import pinned


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Skip the comparisons where the reference is another version."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pinned)


@pytest.fixture(scope="module")
def reference() -> Iterator[Reference]:
    """One child process for the tests of a file."""
    with Reference() as client:
        yield client
