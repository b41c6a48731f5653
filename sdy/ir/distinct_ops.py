"""A few of a module's ops that have all attributes that any has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mypy_extensions import i64

from sdy.ir.rows import filled, largest

if TYPE_CHECKING:
    from collections.abc import Callable

    from sdy.ir.structure import Structure

__all__ = ["distinct_ops"]


def distinct_ops(structure: Structure, all_of: Callable[[str], bool]) -> list[int]:
    """Return ops that have all attributes there are, by number, in the order of the text.

    Args:
      structure: tells of the ops.
      all_of: whether all ops of a name are returned. Of the others, one of each that have equal
        attributes: properties are not looked at.

    """
    attributes = structure.attributes
    is_known = filled(0, largest(attributes) + 2)
    is_looked_at = {name: all_of(name) for name in set(structure.names)}
    found: list[int] = []
    for number in range(i64(len(attributes))):
        kind = attributes[number] + 1
        if not is_known[kind] or is_looked_at[structure.names[number]]:
            is_known[kind] = 1
            found.append(number)
    return found
