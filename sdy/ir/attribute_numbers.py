"""Numbers for the attributes of ops that have changed since a structure was read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mypy_extensions import i64

from sdy.ir.rows import filled, largest
from sdy.ir.structure import NOTHING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from librt.vecs import vec

    from sdy.ir.structure import Structure

__all__ = ["renumber"]


def renumber(
    structure: Structure, changed: Iterable[vec[i64]], with_properties: Collection[str]
) -> None:
    """Let the numbers of attributes in a structure be true again.

    Args:
      structure: the structure.
      changed: for attributes of one name that have changed, for each op a number that is equal
        for equal ones, and 0 where there is none.
      with_properties: the names of ops whose properties have changed.

    """
    for numbers in changed:
        structure.attributes = _pairs(structure.attributes, numbers)
    unused = largest(structure.properties)
    properties = structure.properties[:]
    for op, name in enumerate(structure.names):
        if name in with_properties:
            unused += 1
            properties[op] = unused
    structure.properties = properties


def _pairs(first: vec[i64], second: vec[i64]) -> vec[i64]:
    """Return a number for each pair; NOTHING for NOTHING and 0."""
    known: dict[tuple[int, int], int] = {(NOTHING, 0): NOTHING}
    numbers = filled(NOTHING, len(first))
    last_pair = (NOTHING, 0)
    last = NOTHING
    for op in range(i64(len(first))):
        pair = (int(first[op]), int(second[op]))
        if pair != last_pair:
            last_pair = pair
            last = known.setdefault(pair, len(known) - 1)
        numbers[op] = last
    return numbers
