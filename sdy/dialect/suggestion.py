"""The near miss in an error about a name that is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["did_you_mean"]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean '...'?" for the closest of the known names, '' if none is close."""
    # Imported here because command lines start faster without, and most names are right.
    from difflib import get_close_matches

    close = get_close_matches(name, list(known), n=1, cutoff=0.7)
    return f"; did you mean '{close[0]}'?" if close else ""
