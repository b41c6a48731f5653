"""The structure of a module in numbers, read in one go from its bytecode.

Bytecode is a flat snapshot that MLIR makes in a fraction of the time that it takes to ask for
as much op by op: ops in the order of the text, values as numbers, equal types and attributes
under equal numbers, and the order of uses of each value where it is not the usual one.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Final

from librt.vecs import append, extend, vec
from mypy_extensions import i64

from sdy.ir.bytecode_format import VERSION, Reader, ir_section, op_names
from sdy.ir.op_names import MODULE
from sdy.ir.rows import Rows, filled, places_of_items

if TYPE_CHECKING:
    from jaxlib.mlir import ir

__all__ = ["NOTHING", "ArgumentPlace", "Body", "Structure", "read_structure"]

NOTHING: Final = -1

_HAS_ATTRIBUTES: Final = 0x01
_HAS_RESULTS: Final = 0x02
_HAS_OPERANDS: Final = 0x04
_HAS_SUCCESSORS: Final = 0x08
_HAS_REGIONS: Final = 0x10
_HAS_USE_ORDERS: Final = 0x20
_HAS_PROPERTIES: Final = 0x40

ArgumentPlace = tuple[int, int, int, int]
"""Where a block argument stands: op, region, block, argument."""

Body = tuple[int, int, int]
"""A region's first block: its first argument, how many it has, and its last op."""


class Structure:
    """The ops below a module and their values; a module nested in it is one op.

    Ops are numbered in the order of the text, parents first. The values that a region defines
    have consecutive numbers, its block's arguments first.

    Attributes:
      names: the name of each op.
      parents: for each op the op in whose region it is; NOTHING below the module itself.
      ends: for each op with regions the number of the first op behind it that is not in it.
      bodies: for each op with regions the first block of each that is not empty.
      attributes: for each op the number of its attributes, other than its properties.
      properties: for each op the number of its properties.
      operands: for each op the values that it takes.
      results: for each op the values that it gives.
      types: for each value the number of its type.
      producers: for each value the op that it is a result of; NOTHING for a block argument.
      arguments: where each block argument stands.
      users: for each value the ops that use it, once per use, in the order of the text.
      use_positions: for each item of `users` which operand of the op the value is.
      use_orders: for values whose uses are not in the usual order, which is the reverse of the
        text's, where those stand that are not in their usual place, by that place.

    Ops with equal numbers of attributes have equal attributes; the same holds for properties of
    ops of one name, and for types.

    """

    def __init__(
        self,
        names: list[str],
        parents: vec[i64],
        ends: dict[int, int],
        bodies: dict[int, list[Body]],
        attributes: vec[i64],
        properties: vec[i64],
        operands: Rows,
        results: Rows,
        types: vec[i64],
        arguments: dict[int, ArgumentPlace],
        use_orders: dict[int, dict[int, int]],
    ) -> None:
        self.names = names
        self.parents = parents
        self.ends = ends
        self.bodies = bodies
        self.attributes = attributes
        self.properties = properties
        self.operands = operands
        self.results = results
        self.types = types
        self.arguments = arguments
        self.use_orders = use_orders
        self.producers = _producers(results, len(types))
        self.users, self.use_positions = places_of_items(operands, len(types))

    def uses(self, value: int) -> list[tuple[int, int]]:
        """Return the uses of a value as (op, operand number), in MLIR's order of uses."""
        users, positions = self.users, self.use_positions
        start = users.starts[value]
        place = users.starts[value + 1]
        uses: list[tuple[int, int]] = []
        while place > start:
            place -= 1
            uses.append((users.items[place], positions[place]))
        order = self.use_orders.get(value)
        if order is None:
            return uses
        ordered = uses.copy()
        for usual, place in order.items():
            ordered[place] = uses[usual]
        return ordered


def _producers(results: Rows, value_count: int) -> vec[i64]:
    producers = filled(NOTHING, value_count)
    starts, items = results.starts, results.items
    for op in range(i64(len(starts)) - 1):
        for place in range(starts[op], starts[op + 1]):
            producers[items[place]] = op
    return producers


class _Visible:
    """The values that can be operands, by their numbers in bytecode.

    Those start anew in every region that is isolated from above.

    Attributes:
      numbers: of the values; what stands behind the first `count` is of regions that have ended.
      count: how many there are.

    """

    def __init__(self) -> None:
        self.numbers = vec[i64]()
        self.count: i64 = 0

    def define(self, first: i64, count: i64) -> None:
        """Let values follow behind those that are visible already."""
        numbers, place = self.numbers, self.count
        for value in range(first, first + count):
            if place < len(numbers):
                numbers[place] = value
            else:
                numbers = append(numbers, value)
            place += 1
        self.numbers = numbers
        self.count = place


class _Regions:
    """The regions of an op that are being read.

    Attributes:
      op: the op.
      regions_left: how many regions are still to come.
      region: the index of the region that is being read.
      blocks_left: how many of its blocks are still to come.
      block: the index of the block that is being read.
      ops_left: how many of its ops are still to come.
      first_argument: the first argument of the block.
      argument_count: how many arguments it has.
      last_op: the op of it that was read last.
      next_value: the number of the value that is defined next.
      visible: the values that can be operands.
      outside: how many of them are defined outside of the region.

    """

    def __init__(self, op: i64, count: i64, visible: _Visible) -> None:
        self.op = op
        self.regions_left = count
        self.region: i64 = -1
        self.blocks_left: i64 = 0
        self.block: i64 = -1
        self.ops_left: i64 = 0
        self.first_argument: i64 = 0
        self.argument_count: i64 = 0
        self.last_op: i64 = NOTHING
        self.next_value: i64 = 0
        self.visible = visible
        self.outside: i64 = visible.count


def read_structure(module: ir.Operation) -> Structure:
    """Return the structure of a module."""
    buffer = io.BytesIO()
    module.write_bytecode(buffer, VERSION)
    data = buffer.getvalue()
    return _StructureReader(ir_section(data), op_names(data)).read()


class _StructureReader:
    """Reads the ops of bytecode into a structure."""

    def __init__(self, reader: Reader, names: list[str]) -> None:
        self._reader = reader
        self._name_of = names
        self._op_count: i64 = 0
        self._names: list[str] = []
        self._parents = vec[i64]()
        self._ends: dict[int, int] = {}
        self._bodies: dict[int, list[Body]] = {}
        self._attributes = vec[i64]()
        self._properties = vec[i64]()
        self._operand_starts = vec[i64]([0])
        self._operands = vec[i64]()
        self._result_starts = vec[i64]([0])
        self._results = vec[i64]()
        self._types = vec[i64]()
        self._arguments: dict[int, ArgumentPlace] = {}
        self._orders: dict[int, dict[int, int]] = {}

    def read(self) -> Structure:
        """Read the module's op and all in it."""
        reader = self._reader
        reader.number()  # The module itself is one op of a block of its own.
        self._skip_to_regions()
        reader.number()
        reader.section()
        stack = [_Regions(NOTHING, 1, _Visible())]
        while stack:
            regions = stack[-1]
            inner = self._ops(regions)
            if inner is not None:
                stack.append(inner)
                continue
            if regions.block == 0 and regions.op != NOTHING:
                self._end_body(regions)
            if regions.blocks_left:
                self._start_block(regions)
            elif regions.regions_left:
                self._start_region(regions)
            else:
                regions.visible.count = regions.outside
                if regions.op != NOTHING:
                    self._ends[regions.op] = self._op_count
                stack.pop()
        return Structure(
            self._names,
            self._parents,
            self._ends,
            self._bodies,
            self._attributes,
            self._properties,
            Rows(self._operand_starts, self._operands),
            Rows(self._result_starts, self._results),
            self._types,
            self._arguments,
            self._orders,
        )

    def _skip_to_regions(self) -> None:
        """Skip what the module's op has in front of its region."""
        reader = self._reader
        reader.number()
        mask = reader.byte()
        reader.number()
        if mask & _HAS_ATTRIBUTES:
            reader.number()
        if mask & _HAS_PROPERTIES:
            reader.number()

    def _start_region(self, regions: _Regions) -> None:
        regions.regions_left -= 1
        regions.region += 1
        regions.block = -1
        visible = regions.visible
        visible.count = regions.outside
        regions.blocks_left = self._reader.number()
        if regions.blocks_left:
            first = regions.next_value = len(self._types)
            count = self._reader.number()
            visible.define(first, count)
            self._types = extend(self._types, filled(NOTHING, count))

    def _end_body(self, regions: _Regions) -> None:
        """Note the first block of a region."""
        body: Body = (regions.first_argument, regions.argument_count, regions.last_op)
        self._bodies.setdefault(regions.op, []).append(body)

    def _start_block(self, regions: _Regions) -> None:
        regions.blocks_left -= 1
        regions.block += 1
        reader = self._reader
        count = reader.number()
        regions.ops_left = count >> 1
        regions.last_op = NOTHING
        first = regions.first_argument = regions.next_value
        arguments: i64 = reader.number() if count & 1 else 0
        regions.argument_count = arguments
        if not arguments:
            return
        for index in range(arguments):
            kind = reader.number()
            if kind & 1:
                reader.number()  # its location
            self._types[first + index] = kind >> 1
            self._arguments[first + index] = regions.op, regions.region, regions.block, index
        regions.next_value = first + arguments
        if reader.byte():
            self._use_orders(first, arguments)

    def _ops(self, regions: _Regions) -> _Regions | None:
        """Read ops of the block up to the first that has regions; return those, if one has."""
        reader, names, visible = self._reader, self._name_of, regions.visible.numbers
        while regions.ops_left:
            regions.ops_left -= 1
            op = self._op_count
            self._op_count = op + 1
            name = names[reader.number()]
            mask = reader.byte()
            reader.number()  # its location
            regions.last_op = op
            self._names.append(name)
            self._parents = append(self._parents, regions.op)
            number: i64 = reader.number() if mask & _HAS_ATTRIBUTES else NOTHING
            self._attributes = append(self._attributes, number)
            number = reader.number() if mask & _HAS_PROPERTIES else NOTHING
            self._properties = append(self._properties, number)
            first = regions.next_value
            if mask & _HAS_RESULTS:
                self._read_results(regions)
            self._result_starts = append(self._result_starts, len(self._results))
            if mask & _HAS_OPERANDS:
                for _ in range(reader.number()):
                    self._operands = append(self._operands, visible[reader.number()])
            self._operand_starts = append(self._operand_starts, len(self._operands))
            if mask & _HAS_SUCCESSORS:
                for _ in range(reader.number()):
                    reader.number()
            if mask & _HAS_USE_ORDERS:
                self._use_orders(first, regions.next_value - first)
            if mask & _HAS_REGIONS:
                inner = self._regions(op, name, regions)
                if inner is not None:
                    return inner
        return None

    def _regions(self, op: i64, name: str, outer: _Regions) -> _Regions | None:
        """Return the regions of an op; None for those of a nested module, which are skipped."""
        reader = self._reader
        count = reader.number()
        if not count & 1:
            return _Regions(op, count >> 1, outer.visible)
        _, end = reader.section()
        if outer.op == NOTHING and name == MODULE:
            reader.position = end
            return None
        return _Regions(op, count >> 1, _Visible())

    def _read_results(self, regions: _Regions) -> None:
        reader = self._reader
        first = regions.next_value
        end = first + reader.number()
        for value in range(first, end):
            self._types[value] = reader.number()
            self._results = append(self._results, value)
        regions.next_value = end

    def _use_orders(self, first: i64, count: i64) -> None:
        """Read the orders of uses of values among `count` ones from `first` on."""
        reader = self._reader
        values: i64 = reader.number() if count != 1 else 1
        for _ in range(values):
            value: i64 = first
            if count != 1:
                value += reader.number()
            length = reader.number()
            numbers = reader.numbers(length >> 1)
            if length & 1:
                # Pairs for those alone that stand elsewhere.
                order = dict(zip(numbers[1::2], numbers[::2], strict=True))
            else:
                order = dict(enumerate(numbers))
            self._orders[value] = order
