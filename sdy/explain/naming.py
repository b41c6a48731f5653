"""The ops and tensors of a record in terms of the program that came out: names and places."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from sdy.explain.locations import PlaceReader
from sdy.ir.data_flow import DATA_FLOW_EDGE
from sdy.ir.op_names import FUNC_EDGE, FUNCTION

if TYPE_CHECKING:
    from sdy.explain.locations import Place
    from sdy.explain.program import Value
    from sdy.explain.record import Record
    from sdy.explain.traced import Traced

__all__ = ["Naming"]

_EDGES = frozenset({DATA_FLOW_EDGE, FUNC_EDGE})


class Naming:
    """Tells of the ops and tensors of a record."""

    def __init__(self, traced: Traced, record: Record) -> None:
        self._program = traced.program
        self._correspondence = traced.correspondence
        self._record = record
        self._places = PlaceReader()

    def value_of(self, tensor: int) -> Value | None:
        """Return the value of the program that a tensor is."""
        number = self._correspondence.value_by_tensor.get(tensor)
        return None if number is None else self._program.values[number]

    def op_of(self, mark: int) -> int | None:
        """Return the op of the program that an op of the record is."""
        return self._correspondence.op_by_mark.get(mark)

    def op_name(self, mark: int) -> str:
        """Return the name of an op of the record; of an edge, that of the op that it is about."""
        name, number = self._record.op_names[mark], self.op_of(mark)
        return self._program.ops[number].name if name in _EDGES and number is not None else name

    def place_of(self, mark: int) -> Place:
        """Return where an op of the record comes from."""
        number = self._correspondence.op_by_mark.get(mark)
        if number is not None:
            return self._program.ops[number].place
        return self._places.read(self._record.locations[mark])

    def name_of(self, tensor: int) -> str:
        """Return a name for a tensor of the record."""
        value = self.value_of(tensor)
        if value is not None:
            return value.spelling
        mark = self._producers.get(tensor)
        return "a value" if mark is None else f"an unused {self._record.op_names[mark]}"

    def label_of(self, tensor: int) -> str:
        """Return the name of a tensor with what the source calls it."""
        value = self.value_of(tensor)
        return self.name_of(tensor) if value is None else str(value)

    @cached_property
    def _producers(self) -> dict[int, int]:
        return {
            tensor: mark
            for mark, results in enumerate(self._record.results)
            for tensor in results
            if self._record.op_names[mark] != FUNCTION
        }
