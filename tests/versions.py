"""Tests that hold for one version of jaxlib only."""

from __future__ import annotations

import jaxlib
import pytest

__all__ = ["PINNED_JAXLIB", "pinned"]

PINNED_JAXLIB = "0.10.2"

pinned = pytest.mark.skipif(
    jaxlib.__version__ != PINNED_JAXLIB,
    reason=f"compares with what jaxlib {PINNED_JAXLIB} does; this is jaxlib {jaxlib.__version__}",
)
"""Marks comparisons with the Shardy compiled into jaxlib, whose answers change with its version."""
