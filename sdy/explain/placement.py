"""Which device holds which part of a value, as a drawing of boxes for the terminal.

The dimensions that are split give the rows and the columns of the drawing; where more than two
are, there is a drawing for each place along the others. The idea is JAX's
`visualize_array_sharding`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby, product
from typing import TYPE_CHECKING

import numpy as np

from sdy.dialect.placement import tile_indices
from sdy.explain.printable import printable
from sdy.explain.why_text import local_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sdy.explain.program import Value

__all__ = ["Tiling", "placement_text", "tiling_of"]

_MOST_ROWS = 32
_MOST_COLUMNS = 16
_MOST_DRAWINGS = 4


@dataclass(frozen=True, slots=True)
class Tiling:
    """The parts that a value is split into.

    Attributes:
      counts: the number of parts along each dimension.
      shape: of the largest part.
      devices: for each part, by its index along each dimension, the devices that hold it.

    """

    counts: tuple[int, ...]
    shape: tuple[int, ...]
    devices: dict[tuple[int, ...], tuple[int, ...]]


def tiling_of(value: Value) -> Tiling | None:
    """Return the parts of a value; None for one without a sharding."""
    sharding = value.sharding
    if sharding is None:
        return None
    ids, tiles = tile_indices(sharding)
    if tiles.shape[1] != len(value.shape):  # A maximal sharding has no dimensions.
        tiles = np.zeros((len(ids), len(value.shape)), dtype=np.int64)
    devices: dict[tuple[int, ...], list[int]] = {}
    for device, tile in zip(ids.tolist(), tiles.tolist(), strict=True):
        devices.setdefault(tuple(tile), []).append(device)
    counts = tuple(int(n) + 1 for n in tiles.max(axis=0)) if len(value.shape) else ()
    held = {tile: tuple(sorted(held_by)) for tile, held_by in sorted(devices.items())}
    return Tiling(counts, value.local_shape, held)


def placement_text(value: Value) -> str:
    """Return the drawing of a value, and what it is, without a line break at the end."""
    return "\n".join(map(printable, _lines(value)))


def _lines(value: Value) -> Iterator[str]:
    tiling = tiling_of(value)
    if tiling is None:
        whole = "" if value.manual_axes else ": every device holds all of it"
        yield f"{value}: {value.type}, no sharding{whole}"
    else:
        yield f"{value}: {value.type}, {value.sharding}"
    if value.manual_axes:
        yield f"  {local_text(value)}"
    if tiling is not None:
        yield from _parts(value, tiling)


def _parts(value: Value, tiling: Tiling) -> Iterator[str]:
    """Yield how many parts there are, and the drawings of which devices hold them."""
    size = "x".join(map(str, tiling.shape)) or "scalar"
    copies = len(next(iter(tiling.devices.values())))
    held = "1 device" if copies == 1 else f"{copies} devices"
    count = len(tiling.devices)
    yield (
        f"  1 part of {size}, on {held}"
        if count == 1
        else f"  {count} parts of {size}, each on {held}"
    )
    split = [dim for dim, count in enumerate(tiling.counts) if count > 1]
    others, shown = split[:-2], split[-2:]
    places = list(product(*(range(tiling.counts[dim]) for dim in others)))
    for place in places[:_MOST_DRAWINGS]:
        fixed = dict(zip(others, place, strict=True))
        yield from (
            f"  dimension {dim}: {_range(value, tiling, dim, index)}"
            for dim, index in fixed.items()
        )
        yield from (f"  {line}" for line in _drawing(value, tiling, fixed, shown))
    if len(places) > _MOST_DRAWINGS:
        yield f"  ... {len(places) - _MOST_DRAWINGS} more drawings"


def _range(value: Value, tiling: Tiling, dim: int, index: int) -> str:
    """Return which part of a dimension an index stands for."""
    start = min(index * tiling.shape[dim], value.shape[dim])
    return f"[{start}:{min(start + tiling.shape[dim], value.shape[dim])}]"


def _drawing(
    value: Value, tiling: Tiling, fixed: dict[int, int], shown: Sequence[int]
) -> list[str]:
    """Return the boxes for the last one or two dimensions that are split."""
    rows, columns = ([None, None][: 2 - len(shown)] + list(shown))[:2] if shown else (None, None)
    if len(shown) == 1 and shown[0] != len(tiling.counts) - 1:
        rows, columns = columns, None
    height = 1 if rows is None else tiling.counts[rows]
    width = 1 if columns is None else tiling.counts[columns]
    heads = [
        "" if columns is None else _range(value, tiling, columns, column)
        for column in range(min(width, _MOST_COLUMNS))
    ]
    table = []
    for row in range(min(height, _MOST_ROWS)):
        cells = []
        for column in range(len(heads)):
            at = fixed | ({} if rows is None else {rows: row})
            at |= {} if columns is None else {columns: column}
            tile = tuple(at.get(dim, 0) for dim in range(len(tiling.counts)))
            cells.append(ids_text(tiling.devices.get(tile, ())))
        table.append(["" if rows is None else _range(value, tiling, rows, row), *cells])
    left_out = [
        f"... {count - most} more {what}"
        for what, count, most in (("rows", height, _MOST_ROWS), ("columns", width, _MOST_COLUMNS))
        if count > most
    ]
    legend = [
        f"{what} are dimension {dim}"
        for what, dim in (("rows", rows), ("columns", columns))
        if dim is not None
    ]
    return [*([", ".join(legend)] if legend else []), *_boxes(heads, table), *left_out]


def _boxes(heads: Sequence[str], table: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a table as lines; its first column is outside of the boxes, and so are the heads."""
    side = max(len(row[0]) for row in table)
    cells = [*heads, *(cell for row in table for cell in row[1:])]
    width = max(map(len, cells)) + 2
    margin = " " * (side + 1 if side else 0)
    bar = "─" * width
    if any(heads):
        yield (margin + " " + " ".join(f"{head:^{width}}" for head in heads)).rstrip()
    yield margin + "┌" + "┬".join([bar] * len(heads)) + "┐"
    for number, row in enumerate(table):
        if number:
            yield margin + "├" + "┼".join([bar] * len(heads)) + "┤"
        lead = f"{row[0]:>{side}} " if side else ""
        yield lead + "│" + "│".join(f"{cell:^{width}}" for cell in row[1:]) + "│"
    yield margin + "└" + "┴".join([bar] * len(heads)) + "┘"


def ids_text(ids: Sequence[int]) -> str:
    """Return device ids as text, runs of neighbours short: `0-3,8`."""
    runs = []
    for _, run in groupby(enumerate(ids), key=lambda pair: pair[1] - pair[0]):
        numbers = [number for _, number in run]
        runs.append(str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}")
    return ",".join(runs)
