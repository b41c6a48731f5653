"""Packed numbers: vectors of a length, and rows of different lengths, one behind the other.

Compiled code reads and writes them as C arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from librt.vecs import append, extend, vec
from mypy_extensions import i64

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = [
    "Rows",
    "filled",
    "first_places",
    "largest",
    "longer",
    "packed",
    "packed_range",
    "places_of_items",
    "rows_of",
]


def filled(value: int, count: int) -> vec[i64]:
    """Return `count` numbers that are all `value`."""
    return vec[i64]([value] * count)


def packed(numbers: Iterable[int]) -> vec[i64]:
    """Return the numbers, packed."""
    return vec[i64](numbers)


def longer(numbers: vec[i64], count: int) -> vec[i64]:
    """Return the numbers with as many zeros behind them as it takes to have `count`."""
    missing = count - len(numbers)
    return extend(numbers, filled(0, missing)) if missing > 0 else numbers


def packed_range(start: i64, stop: i64) -> vec[i64]:
    """Return the numbers from `start` up to `stop`, packed."""
    numbers = vec[i64](capacity=max(0, stop - start))
    for number in range(start, stop):
        numbers = append(numbers, number)
    return numbers


def largest(numbers: vec[i64]) -> int:
    """Return the largest number; -1 where there is none that is greater."""
    found: i64 = -1
    for place in range(i64(len(numbers))):
        found = max(found, numbers[place])
    return found


def first_places(numbers: vec[i64]) -> vec[i64]:
    """Return for each number from 0 up to the largest where it stands first; -1 for none."""
    places = filled(-1, largest(numbers) + 1)
    for place in range(i64(len(numbers))):
        number = numbers[place]
        if number >= 0 and places[number] < 0:
            places[number] = place
    return places


class Rows:
    """Rows of numbers, each of a length of its own.

    Attributes:
      starts: where in `items` each row starts and, last, where the last one ends.
      items: the numbers of all rows.

    """

    def __init__(self, starts: vec[i64], items: vec[i64]) -> None:
        self.starts = starts
        self.items = items

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, row: int) -> tuple[int, ...]:
        if row < 0 or row >= len(self.starts) - 1:
            raise IndexError(row)
        index: i64 = row
        start = self.starts[index]
        end = self.starts[index + 1]
        items = self.items
        if end - start == 1:
            return (items[start],)
        return tuple([items[place] for place in range(start, end)])

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        for row in range(len(self)):
            yield self[row]

    def length(self, row: i64) -> i64:
        """Return how many numbers a row has."""
        starts = self.starts
        return starts[row + 1] - starts[row]

    def lengths(self) -> list[int]:
        """Return how many numbers each row has."""
        starts = self.starts
        return [int(starts[row + 1] - starts[row]) for row in range(len(starts) - 1)]


def rows_of(rows: Sequence[Sequence[int]]) -> Rows:
    """Return rows, packed."""
    starts = vec[i64]([0])
    items = vec[i64]()
    for row in rows:
        for item in row:
            items = append(items, item)
        starts = append(starts, len(items))
    return Rows(starts, items)


def places_of_items(rows: Rows, count: int) -> tuple[Rows, vec[i64]]:
    """Return where each number below `count` stands: the rows, and the positions in them.

    Both are in the order of `rows`. The positions are packed as the items of the rows.
    """
    starts = filled(0, count + 1)
    row_starts, items = rows.starts, rows.items
    size: i64 = len(items)
    for place in range(size):
        item = items[place] + 1
        starts[item] = starts[item] + 1
    for item in range(1, i64(count) + 1):
        starts[item] = starts[item] + starts[item - 1]
    ends = vec[i64](starts)
    found, positions = filled(0, size), filled(0, size)
    for row in range(i64(len(row_starts)) - 1):
        first = row_starts[row]
        for place in range(first, row_starts[row + 1]):
            end = ends[items[place]]
            ends[items[place]] = end + 1
            found[end] = row
            positions[end] = place - first
    return Rows(starts, found), positions
