"""What all tests against the reference share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.differential.reference import Reference


@pytest.fixture(scope="module")
def reference() -> Iterator[Reference]:
    """One child process for the tests of a file."""
    with Reference() as client:
        yield client
