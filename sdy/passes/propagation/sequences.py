"""Numbers for sequences of numbers, found by their content."""

from __future__ import annotations

from typing import Final

from librt.vecs import append, vec
from mypy_extensions import i64

from sdy.ir.rows import Rows, filled

__all__ = ["Sequences"]

_EMPTY: Final = -1
_MULTIPLIER: Final = 0x2545_F491
_HASH_BITS: Final = 0x7FFF_FFFF


class Sequences:
    """Distinct sequences of numbers, numbered as they come.

    A hash table with open addressing, as compiled code reads C arrays many times as fast as it
    makes tuples.

    Attributes:
      rows: the sequences.

    """

    def __init__(self) -> None:
        self.rows = Rows(vec[i64]([0]), vec[i64]())
        self._hashes = vec[i64]()
        self._table = filled(_EMPTY, 256)

    def number(self, first: i64, others: Rows, row: i64, of: vec[i64]) -> i64:
        """Return the number of a sequence: `first`, then what `of` has for each item of a row."""
        items = others.items
        # All of it stays below 2 ** 63, where compiled integers end.
        key = first + 1
        for place in range(others.starts[row], others.starts[row + 1]):
            key = (key ^ (of[items[place]] + 2)) * _MULTIPLIER
            key = (key ^ key >> 29) & _HASH_BITS
        table, hashes = self._table, self._hashes
        mask: i64 = len(table) - 1
        slot = key & mask
        while table[slot] != _EMPTY:
            number = table[slot]
            if hashes[number] == key and self._is(number, first, others, row, of):
                return number
            slot = (slot + 1) & mask
        number = table[slot] = self._add(first, others, row, of)
        self._hashes = append(hashes, key)
        if number * 2 > mask:
            self._grow()
        return number

    def _add(self, first: i64, others: Rows, row: i64, of: vec[i64]) -> i64:
        rows, items = self.rows, others.items
        rows.items = append(rows.items, first)
        for place in range(others.starts[row], others.starts[row + 1]):
            rows.items = append(rows.items, of[items[place]])
        rows.starts = append(rows.starts, len(rows.items))
        return len(rows.starts) - 2

    def _is(self, number: i64, first: i64, others: Rows, row: i64, of: vec[i64]) -> bool:
        starts, known, items = self.rows.starts, self.rows.items, others.items
        place, start, end = starts[number], others.starts[row], others.starts[row + 1]
        if starts[number + 1] - place != end - start + 1 or known[place] != first:
            return False
        for other in range(start, end):
            place += 1
            if known[place] != of[items[other]]:
                return False
        return True

    def _grow(self) -> None:
        size: i64 = 4 * len(self._table)
        table, hashes = filled(_EMPTY, size), self._hashes
        for number in range(i64(len(hashes))):
            slot = hashes[number] & (size - 1)
            while table[slot] != _EMPTY:
                slot = (slot + 1) & (size - 1)
            table[slot] = number
        self._table = table
