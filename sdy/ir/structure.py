"""The structure of a module in numbers, read in one go from its bytecode.

Bytecode is a flat snapshot that MLIR makes in a fraction of the time that it takes to ask for
as much op by op: ops in the order of the text, values as numbers, equal types and attributes
under equal numbers, and the order of uses of each value where it is not the usual one.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Final

from sdy.ir.bytecode_format import VERSION, Reader, ir_section, op_names
from sdy.ir.op_names import MODULE

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
      use_orders: for values whose uses are not in the usual order, which is the reverse of the
        text's, where those stand that are not in their usual place, by that place.

    Ops with equal numbers of attributes have equal attributes; the same holds for properties of
    ops of one name, and for types.

    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.parents: list[int] = []
        self.ends: dict[int, int] = {}
        self.bodies: dict[int, list[Body]] = {}
        self.attributes: list[int] = []
        self.properties: list[int] = []
        self.operands: list[tuple[int, ...]] = []
        self.results: list[tuple[int, ...]] = []
        self.types: list[int] = []
        self.producers: list[int] = []
        self.arguments: dict[int, ArgumentPlace] = {}
        self.users: list[list[int]] = []
        self.use_orders: dict[int, dict[int, int]] = {}

    def find_users(self) -> None:
        """Set `users` to what the operands say."""
        users = self.users = [[] for _ in self.types]
        for op, operands in enumerate(self.operands):
            for value in operands:
                users[value].append(op)

    def uses(self, value: int) -> list[tuple[int, int]]:
        """Return the uses of a value as (op, operand number), in MLIR's order of uses."""
        users = self.users[value]
        if len(users) == 1:
            return [(users[0], self.operands[users[0]].index(value))]
        uses: list[tuple[int, int]] = []
        for op in dict.fromkeys(reversed(users)):
            operands = self.operands[op]
            numbers = range(len(operands) - 1, -1, -1)
            uses += [(op, number) for number in numbers if operands[number] == value]
        order = self.use_orders.get(value)
        if order is None:
            return uses
        ordered = uses.copy()
        for usual, place in order.items():
            ordered[place] = uses[usual]
        return ordered


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
      visible: the numbers of the values that can be operands, by their numbers in bytecode,
        which start anew in every region that is isolated from above.
      outside: how many of them are defined outside of the region.

    """

    def __init__(self, op: int, count: int, visible: list[int]) -> None:
        self.op = op
        self.regions_left = count
        self.region = -1
        self.blocks_left = 0
        self.block = -1
        self.ops_left = 0
        self.first_argument = 0
        self.argument_count = 0
        self.last_op = NOTHING
        self.next_value = 0
        self.visible = visible
        self.outside = len(visible)


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
        self._names = names
        self._structure = Structure()

    def read(self) -> Structure:
        """Read the module's op and all in it."""
        reader = self._reader
        reader.number()  # The module itself is one op of a block of its own.
        self._skip_to_regions()
        reader.number()
        reader.section()
        stack = [_Regions(NOTHING, 1, [])]
        while stack:
            regions = stack[-1]
            if regions.ops_left:
                regions.ops_left -= 1
                inner = self._op(regions)
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
                del regions.visible[regions.outside :]
                if regions.op != NOTHING:
                    self._structure.ends[regions.op] = len(self._structure.names)
                stack.pop()
        self._structure.find_users()
        return self._structure

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
        del regions.visible[regions.outside :]
        regions.blocks_left = self._reader.number()
        if regions.blocks_left:
            structure = self._structure
            first = regions.next_value = len(structure.types)
            count = self._reader.number()
            regions.visible.extend(range(first, first + count))
            structure.types.extend([NOTHING] * count)
            structure.producers.extend([NOTHING] * count)

    def _end_body(self, regions: _Regions) -> None:
        """Note the first block of a region."""
        body = (regions.first_argument, regions.argument_count, regions.last_op)
        self._structure.bodies.setdefault(regions.op, []).append(body)

    def _start_block(self, regions: _Regions) -> None:
        regions.blocks_left -= 1
        regions.block += 1
        reader = self._reader
        count = reader.number()
        regions.ops_left = count >> 1
        regions.last_op = NOTHING
        structure = self._structure
        first = regions.first_argument = regions.next_value
        arguments = regions.argument_count = reader.number() if count & 1 else 0
        if not arguments:
            return
        for index in range(arguments):
            kind = reader.number()
            if kind & 1:
                reader.number()  # its location
            structure.types[first + index] = kind >> 1
            place = (regions.op, regions.region, regions.block, index)
            structure.arguments[first + index] = place
        regions.next_value = first + arguments
        if reader.byte():
            self._use_orders(first, arguments)

    def _op(self, regions: _Regions) -> _Regions | None:
        """Read an op; return its regions if it has some."""
        reader, structure = self._reader, self._structure
        op = len(structure.names)
        name = self._names[reader.number()]
        mask = reader.byte()
        reader.number()  # its location
        regions.last_op = op
        structure.names.append(name)
        structure.parents.append(regions.op)
        structure.attributes.append(reader.number() if mask & _HAS_ATTRIBUTES else NOTHING)
        structure.properties.append(reader.number() if mask & _HAS_PROPERTIES else NOTHING)
        first = regions.next_value
        structure.results.append(self._results(op, regions) if mask & _HAS_RESULTS else ())
        structure.operands.append(self._operands(regions.visible) if mask & _HAS_OPERANDS else ())
        if mask & _HAS_SUCCESSORS:
            reader.numbers(reader.number())
        if mask & _HAS_USE_ORDERS:
            self._use_orders(first, regions.next_value - first)
        if not mask & _HAS_REGIONS:
            return None
        count = reader.number()
        if not count & 1:
            return _Regions(op, count >> 1, regions.visible)
        _, end = reader.section()
        if regions.op == NOTHING and name == MODULE:
            reader.position = end
            return None
        return _Regions(op, count >> 1, [])

    def _results(self, op: int, regions: _Regions) -> tuple[int, ...]:
        reader, structure = self._reader, self._structure
        count = reader.number()
        first = regions.next_value
        end = regions.next_value = first + count
        for value in range(first, end):
            structure.types[value] = reader.number()
            structure.producers[value] = op
        return (first,) if count == 1 else tuple(range(first, end))

    def _operands(self, visible: list[int]) -> tuple[int, ...]:
        reader = self._reader
        count = reader.number()
        if count == 1:
            return (visible[reader.number()],)
        if count == 2:
            return (visible[reader.number()], visible[reader.number()])
        return tuple([visible[reader.number()] for _ in range(count)])

    def _use_orders(self, first: int, count: int) -> None:
        """Read the orders of uses of values among `count` ones from `first` on."""
        reader = self._reader
        for _ in range(reader.number() if count != 1 else 1):
            value = first + (reader.number() if count != 1 else 0)
            length = reader.number()
            numbers = reader.numbers(length >> 1)
            if length & 1:
                # Pairs for those alone that stand elsewhere.
                order = dict(zip(numbers[1::2], numbers[::2], strict=True))
            else:
                order = dict(enumerate(numbers))
            self._structure.use_orders[value] = order
