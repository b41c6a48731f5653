"""Several inputs in one file, between lines that hold a marker."""

from __future__ import annotations

import re

__all__ = ["split_input"]


def split_input(text: str, marker: str) -> list[str]:
    """Return the parts, each behind so many empty lines that its line numbers are the file's."""
    parts: list[str] = []
    line = 0
    for part in re.split(rf"(?m)^[ \t]*{re.escape(marker)}[ \t\r]*$", text):
        parts.append("\n" * line + part)
        line += part.count("\n")
    return parts
