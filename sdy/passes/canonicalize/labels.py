"""The labels by which `enable-patterns` and `disable-patterns` select groups of patterns."""

from __future__ import annotations

from typing import Final

__all__ = ["COLLECTIVE", "RESHARD"]

RESHARD: Final = "sdy-reshard"
COLLECTIVE: Final = "sdy-collective"
