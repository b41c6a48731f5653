"""Lines with columns, and numbers with units, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["aligned", "bytes_text", "count_text", "seconds_text"]

_BYTES = ("B", "KiB", "MiB", "GiB", "TiB")
_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))


def aligned(rows: Sequence[Sequence[str]], top: int) -> Iterator[str]:
    """Yield at most so many rows as indented lines with columns, and how many are left out."""
    shown = rows[:top]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        cells = (f"{cell:{width}}" for cell, width in zip(row, widths, strict=True) if width)
        yield f"  {'  '.join(cells)}".rstrip()
    if len(rows) > len(shown):
        yield f"  ... {len(rows) - len(shown)} more"


def bytes_text(count: int) -> str:
    """Return a number of bytes in the largest unit of which there is one: `1.5 MiB`."""
    size, unit = float(count), 0
    while size >= 1024 and unit < len(_BYTES) - 1:
        size, unit = size / 1024, unit + 1
    return f"{count} B" if unit == 0 else f"{size:.1f} {_BYTES[unit]}"


def seconds_text(seconds: float | None) -> str:
    """Return a time in a unit of which there is one: `1.5 ms`; '' for None."""
    if seconds is None:
        return ""
    size, unit = next((each for each in _SECONDS if seconds >= each[0]), _SECONDS[-1])
    return f"{seconds / size:.1f} {unit}"


def count_text(count: int, what: str) -> str:
    """Return a number of things: `1 op`, `2 ops`."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
