"""The ops and values of a structure, and new ones behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from librt.vecs import append, vec
from mypy_extensions import i64

from sdy.ir.op_names import CALL, FUNCTION
from sdy.ir.rows import Rows, largest, longer, packed_range
from sdy.ir.structure import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from jaxlib.mlir import ir

    from sdy.ir.structure import Structure

__all__ = ["GrowingStructure"]

_WITH_OWN_ATTRIBUTES: Final = frozenset({FUNCTION, CALL})


class GrowingStructure:
    """What a structure tells of its ops and values, with more of them; none goes.

    The attributes of the class are those of `Structure`, and:

    Attributes:
      ops: the handles of the ops.
      with_regions: the ops that have regions.

    """

    def __init__(self, structure: Structure, ops: Sequence[ir.Operation]) -> None:
        self.names = structure.names.copy()
        self.ops = list(ops)
        self.parents = structure.parents[:]
        self.attributes = structure.attributes[:]
        self.properties = structure.properties[:]
        self.operands = Rows(structure.operands.starts[:], structure.operands.items[:])
        self.results = Rows(structure.results.starts[:], structure.results.items[:])
        self.types = structure.types[:]
        self.bodies = structure.bodies.copy()
        self.arguments = structure.arguments.copy()
        self.with_regions = dict.fromkeys(structure.ends)
        self._arguments_of: dict[int, list[int]] | None = None
        self._unused = 1 + max(largest(structure.attributes), largest(structure.properties))
        self._clone_numbers = packed_range(0, 0)
        self._clone_values = packed_range(0, 0)

    def arguments_of(self, number: int) -> list[int]:
        """Return the arguments of all blocks of an op."""
        if self._arguments_of is None:
            self._arguments_of = {}
            for value, place in self.arguments.items():
                self._arguments_of.setdefault(place[0], []).append(value)
        return self._arguments_of.get(number, [])

    def renew_attributes(self, number: int, *, properties_only: bool = False) -> None:
        """Give an op attributes that no other has."""
        self.properties[number] = self._unused
        if not properties_only:
            self.attributes[number] = self._unused
        self._unused += 1

    def add(
        self,
        name: str,
        op: ir.Operation,
        parent: int,
        operands: Iterable[int],
        kinds: Iterable[int],
    ) -> int:
        """Add an op without regions and attributes; return its number.

        Args:
          name: of the op.
          op: its handle.
          parent: the op in whose region it is.
          operands: the values that it takes.
          kinds: the numbers of the types of its results, which are new values.

        """
        number = len(self.names)
        self.names.append(name)
        self.ops.append(op)
        self.parents = append(self.parents, parent)
        self.attributes = append(self.attributes, NOTHING)
        self.properties = append(self.properties, NOTHING)
        items = self.operands.items
        for operand in operands:
            items = append(items, operand)
        _end_row(self.operands, items)
        items = self.results.items
        for kind in kinds:
            items = append(items, len(self.types))
            self.types = append(self.types, kind)
        _end_row(self.results, items)
        return number

    def clone(self, function: i64, content: vec[i64], ops: Sequence[ir.Operation]) -> int:
        """Add a clone of a function; return its number, which those of its ops follow.

        It and the calls in it get attributes of their own.

        Args:
          function: the function.
          content: the ops in it, in the order of the text.
          ops: the handles of the clone and of the ops in it.

        """
        first: i64 = len(self.names)
        numbers = self._clone_numbers = longer(self._clone_numbers, len(self.names))
        values = self._clone_values = longer(self._clone_values, len(self.types))
        self._clone_values_of(function, values)
        numbers[function] = first
        for place in range(i64(len(content))):
            self._clone_values_of(content[place], values)
            numbers[content[place]] = first + 1 + place
        self._clone_op(function, NOTHING, ops[0])
        for place in range(i64(len(content))):
            source = content[place]
            self._clone_op(source, numbers[self.parents[source]], ops[place + 1])
        return first

    def _clone_values_of(self, source: i64, values: vec[i64]) -> None:
        """Add the values that correspond to those of an op."""
        results = self.results
        for place in range(results.starts[source], results.starts[source + 1]):
            value = results.items[place]
            values[value] = len(self.types)
            self.types = append(self.types, self.types[value])
        if source in self.with_regions:
            for argument in self.arguments_of(source):
                values[argument] = len(self.types)
                self.types = append(self.types, self.types[argument])

    def _clone_op(self, source: i64, parent: i64, op: ir.Operation) -> None:
        """Add a copy of an op, after the values of the whole clone."""
        name, number = self.names[source], len(self.names)
        self.names.append(name)
        self.ops.append(op)
        self.parents = append(self.parents, parent)
        self.attributes = append(self.attributes, self.attributes[source])
        self.properties = append(self.properties, self.properties[source])
        if name in _WITH_OWN_ATTRIBUTES:
            self.renew_attributes(number)
        _append_row(self.operands, source, self._clone_values)
        _append_row(self.results, source, self._clone_values)
        if source in self.with_regions:
            self._clone_regions(source, number)

    def _clone_regions(self, source: int, number: int) -> None:
        numbers, values = self._clone_numbers, self._clone_values
        self.with_regions[number] = None
        arguments = self.arguments_of(source)
        for value in arguments:
            _, region, block, index = self.arguments[value]
            self.arguments[values[value]] = number, region, block, index
        if self._arguments_of is not None:
            self._arguments_of[number] = [values[value] for value in arguments]
        self.bodies[number] = [
            (
                values[first] if count else first,
                count,
                last if last == NOTHING else numbers[last],
            )
            for first, count, last in self.bodies.get(source, ())
        ]


def _end_row(rows: Rows, items: vec[i64]) -> None:
    rows.items = items
    rows.starts = append(rows.starts, len(items))


def _append_row(rows: Rows, row: i64, values: vec[i64]) -> None:
    """Append a row like another, with other values."""
    items = rows.items
    for place in range(rows.starts[row], rows.starts[row + 1]):
        items = append(items, values[items[place]])
    _end_row(rows, items)
