"""The structure that is left of one to which ops were added, in another order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from librt.vecs import append, vec
from mypy_extensions import i64

from sdy.ir.rows import Rows, filled
from sdy.ir.structure import NOTHING, Structure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sdy.ir.growing_structure import GrowingStructure
    from sdy.ir.structure import ArgumentPlace, Body

__all__ = ["EditedStructure"]


class EditedStructure:
    """Makes a structure of those ops that are left, and their values.

    Attributes:
      numbers: for each op the number that it gets; NOTHING for one that is no more, and at the
        end.
      values: the same for values.

    """

    def __init__(
        self,
        source: GrowingStructure,
        order: vec[i64],
        moved: Mapping[int, int],
        bypassed: Mapping[int, int],
    ) -> None:
        """Give numbers to the ops and values that are left.

        Args:
          source: the ops and values there were, and new ones.
          order: the ops that are left, in the order of the text.
          moved: for ops that have lost their regions to another op, that one.
          bypassed: for values that are no more another one, whose number they get.

        """
        self._source = source
        self._order = order
        self.numbers = filled(NOTHING, len(source.names) + 1)
        for place in range(i64(len(order))):
            self.numbers[order[place]] = place
        # For each op the number of the one that has its regions.
        self._homes = self.numbers[:]
        for old, new in moved.items():
            self._homes[old] = self.numbers[new]
        self._value_count = 0
        self.values = self._numbered_values(bypassed)

    def _numbered_values(self, bypassed: Mapping[int, int]) -> vec[i64]:
        source, numbers = self._source, self.numbers
        values = filled(0, len(source.types))
        results = source.results
        for number in range(i64(len(source.names))):
            if numbers[number] == NOTHING:
                for place in range(results.starts[number], results.starts[number + 1]):
                    values[results.items[place]] = NOTHING
        for value, argument in source.arguments.items():
            if self._homes[argument[0]] == NOTHING:
                values[value] = NOTHING
        count: i64 = 0
        for index in range(i64(len(values))):
            if values[index] != NOTHING:
                values[index] = count
                count += 1
        self._value_count = count
        for value, used in bypassed.items():
            while used in bypassed:
                used = bypassed[used]
            values[value] = values[used]
        return values

    def structure(self, use_orders: dict[int, dict[int, int]]) -> Structure:
        """Return the structure, with these orders of uses, which stand under the new numbers."""
        source, order = self._source, self._order
        parents = _gathered(source.parents, order)
        for place in range(i64(len(order))):
            if parents[place] != NOTHING:
                parents[place] = self._homes[parents[place]]
        with_regions = [self.numbers[number] for number in source.with_regions]
        return Structure(
            [source.names[number] for number in order],
            parents,
            _ends(parents, [number for number in with_regions if number != NOTHING]),
            self._bodies(),
            _gathered(source.attributes, order),
            _gathered(source.properties, order),
            _gathered_rows(source.operands, order, self.values),
            _gathered_rows(source.results, order, self.values),
            self._types(),
            self._arguments(),
            use_orders,
        )

    def _types(self) -> vec[i64]:
        values, types = self.values, self._source.types
        kinds = filled(NOTHING, self._value_count)
        for value in range(i64(len(values))):
            if values[value] != NOTHING:
                kinds[values[value]] = types[value]
        return kinds

    def _bodies(self) -> dict[int, list[Body]]:
        numbers, homes, values = self.numbers, self._homes, self.values
        moved: dict[int, list[Body]] = {}
        for number, bodies in self._source.bodies.items():
            if homes[number] != NOTHING:
                moved[homes[number]] = [
                    (values[first] if count else first, count, numbers[last])
                    for first, count, last in bodies
                ]
        return moved

    def _arguments(self) -> dict[int, ArgumentPlace]:
        homes, values = self._homes, self.values
        moved: dict[int, ArgumentPlace] = {}
        for value, (number, region, block, index) in self._source.arguments.items():
            if values[value] != NOTHING:
                moved[values[value]] = homes[number], region, block, index
        return moved


def _gathered(numbers: vec[i64], order: vec[i64]) -> vec[i64]:
    gathered = filled(0, len(order))
    for place in range(i64(len(order))):
        gathered[place] = numbers[order[place]]
    return gathered


def _gathered_rows(rows: Rows, order: vec[i64], values: vec[i64]) -> Rows:
    """Return the rows in an order, with other values."""
    starts = vec[i64]([0], capacity=len(order) + 1)
    items = vec[i64](capacity=len(rows.items))
    for place in range(i64(len(order))):
        row = order[place]
        for item in range(rows.starts[row], rows.starts[row + 1]):
            items = append(items, values[rows.items[item]])
        starts = append(starts, len(items))
    return Rows(starts, items)


def _ends(parents: vec[i64], with_regions: Iterable[int]) -> dict[int, int]:
    """Return for each op with regions the first op behind it that is not in it."""
    ends = filled(0, len(parents))
    for place in range(i64(len(parents)) - 1, -1, -1):
        ends[place] = max(ends[place], place + 1)
        parent = parents[place]
        if parent != NOTHING:
            ends[parent] = max(ends[parent], ends[place])
    return {number: ends[number] for number in with_regions}
