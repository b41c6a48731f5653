"""Names from programs on a terminal: data, whatever characters they have."""

from __future__ import annotations

__all__ = ["printable"]


def printable(text: str) -> str:
    r"""Return a text with `\x1b` and the like for what a terminal would not print, but obey."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
