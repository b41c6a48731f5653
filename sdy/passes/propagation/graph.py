"""A flat snapshot of a module: ops and values as integers, read from MLIR once.

Ops are numbered in the order of the text, parents first. Propagation touches MLIR again only for
one op of each kind, and to write the answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaxlib.mlir import ir
from librt.vecs import append, vec
from mypy_extensions import i64

from sdy.ir.diagnostics import op_error
from sdy.ir.rows import first_places
from sdy.ir.structure import NOTHING

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["Graph"]


class Graph:
    """The ops and values of a module.

    Attributes:
      ops: all ops below the module, parents first.
      structure: their operands, results and places, in numbers.
      names: the name of each op.
      distinct_names: the names, each once.
      name_numbers: for each op where its name stands in them.
      operands: the values that each op takes.
      results: the values that each op gives.
      users: for each value the ops that use it, once per use, in the order of the text.
      producers: the op that each value is a result of; NOTHING for a block argument.
      kinds: for each value a number that stands for its type.
      type_of_kind: these types.
      value_count: how many values there are.

    """

    def __init__(self, module: IndexedModule) -> None:
        """Read the ops of a module."""
        structure = self.structure = module.structure
        self.ops: list[ir.Operation] = module.numbered_ops
        self.names = structure.names
        self.distinct_names: list[str] = []
        self.name_numbers = vec[i64]()
        self.operands = structure.operands
        self.results = structure.results
        self.users = structure.users
        self.producers = structure.producers
        self.kinds = structure.types
        self.value_count: i64 = len(self.kinds)
        self.type_of_kind: dict[int, ir.Type] = self._types()
        self._dictionaries: dict[int, Any] = {}
        self._ids: dict[ir.Value, int] = {}
        self._number_names()

    def _number_names(self) -> None:
        known: dict[str, int] = {}
        numbers = vec[i64](capacity=len(self.names))
        for name in self.names:
            number = known.get(name)
            if number is None:
                number = known[name] = len(known)
            numbers = append(numbers, number)
        self.name_numbers = numbers
        self.distinct_names = list(known)

    def _types(self) -> dict[int, ir.Type]:
        return {
            kind: self.value(value).type
            for kind, value in enumerate(first_places(self.kinds))
            if value != NOTHING
        }

    def ops_named(self, name: str) -> list[int]:
        """Return the ops of that name, in the order of the text."""
        if name not in self.distinct_names:
            return []
        number: i64 = self.distinct_names.index(name)
        numbers = self.name_numbers
        return [int(op) for op in range(i64(len(numbers))) if numbers[op] == number]

    def attributes_with(self, field: str) -> set[int]:
        """Return the numbers of attributes among which is one of that name, no property."""
        return {
            number
            for number, op in enumerate(first_places(self.structure.attributes))
            if op != NOTHING and field in self.attributes(op)
        }

    def value(self, number: int) -> ir.Value:
        """Return the value of a number."""
        producer = self.producers[number]
        if producer != NOTHING:
            return self.ops[producer].results[number - self.results[producer][0]]
        op, region, block, index = self.structure.arguments[number]
        return self.ops[op].regions[region].blocks[block].arguments[index]

    def type_of(self, value: int) -> ir.Type:
        """Return the type of a value."""
        return self.type_of_kind[self.kinds[value]]

    def owner(self, value: int) -> int:
        """Return the op that gives a value, or that has it as an argument of a block."""
        producer = self.producers[value]
        return producer if producer != NOTHING else self.structure.arguments[value][0]

    def position(self, value: int) -> int:
        """Return which result of its op a value is, or which argument of its block."""
        producer = self.producers[value]
        if producer != NOTHING:
            return value - self.results[producer][0]
        return self.structure.arguments[value][3]

    def arguments(self, op: int) -> list[int]:
        """Return the arguments of the first blocks of an op's regions."""
        bodies = self.structure.bodies.get(op, [])
        return [first + index for first, count, _ in bodies for index in range(count)]

    def value_id(self, value: ir.Value) -> int:
        """Return the number of a value. The first call is slow: it looks at all values."""
        if not self._ids:
            self._ids = {self.value(number): number for number in range(int(self.value_count))}
        return self._ids[value]

    def op_index(self, op: ir.Operation) -> int:
        """Return the number of an op.

        It is found by a result: MLIR hashes an op by its content, which changes.
        """
        if len(op.results):
            return self.producers[self.value_id(op.results[0])]
        return next(number for number in self.ops_named(op.name) if self.ops[number] == op)

    def nested(self, op: int) -> range:
        """Return the ops in the regions of `op`, parents first."""
        return range(op + 1, self.structure.ends.get(op, op + 1))

    def attributes(self, op: int) -> Any:
        """Return the attributes of an op, those that MLIR calls properties left aside or not.

        One object for all ops that have the same: they differ at most in their properties.
        """
        number = self.structure.attributes[op]
        known = self._dictionaries.get(number)
        if known is None:
            known = self._dictionaries[number] = self.ops[op].attributes
        return known

    def handles_named(self, name: str) -> list[ir.Operation]:
        """Return the ops of that name in MLIR, in the order of the text."""
        return [self.ops[op] for op in self.ops_named(name)]

    def check_types(self) -> None:
        """Raise a located error if a result's shape is dynamic or its type a tuple."""
        complaints = {
            kind: complaint
            for kind, type_ in self.type_of_kind.items()
            if (complaint := _complaint(type_))
        }
        if not complaints:
            return
        for op, results in zip(self.ops, self.results, strict=True):
            for value in results:
                if self.kinds[value] in complaints:
                    raise op_error(op, complaints[self.kinds[value]])


def _complaint(kind: ir.Type) -> str | None:
    if isinstance(kind, ir.TupleType):
        return f"Shardy propagation doesn't support tuples: '{kind}'"
    if isinstance(kind, ir.ShapedType) and not (kind.has_rank and kind.has_static_shape):
        return (
            f"Shardy propagation only supports ranked tensors with a static shape. type: '{kind}'"
        )
    return None
