"""The labels by which `enable-patterns` and `disable-patterns` select groups of patterns."""

from __future__ import annotations

from typing import Final

__all__ = ["COLLECTIVE_LABEL", "RESHARD_LABEL"]

RESHARD_LABEL: Final = "sdy-reshard"
COLLECTIVE_LABEL: Final = "sdy-collective"
