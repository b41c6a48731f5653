"""Where Chromium is, and whether the tests of the page can run."""

from __future__ import annotations

import importlib.util
import os
import shutil

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)

ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

_HAS_PLAYWRIGHT = importlib.util.find_spec("playwright") is not None

# Where changes are tested before they land, these tests must run: there they fail instead.
needs_chromium = pytest.mark.skipif(
    not os.environ.get("CI") and not (CHROMIUM and _HAS_PLAYWRIGHT),
    reason="needs Chromium (apt-get install chromium) and Playwright (pip install 'sdy[test]')",
)
