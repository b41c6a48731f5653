"""Counts of which way a call took, for the whole process."""

from __future__ import annotations

from collections import Counter
from threading import Lock

__all__ = ["count", "counters"]

_counts: Counter[str] = Counter()
_lock = Lock()


def count(event: str) -> None:
    """Count one event under a name such as `mark_sharding.argument`."""
    with _lock:
        _counts[event] += 1


def counters() -> Counter[str]:
    """Return how often each event has happened in this process, by name.

    A copy: take one before and one after, and `after - before` is what happened between.
    """
    with _lock:
        return Counter(_counts)
