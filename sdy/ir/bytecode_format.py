"""The parts of MLIR's bytecode format that tell what stands where in a module.

Numbers, sections, strings and op names, as MLIR's documentation of the format describes them:
https://mlir.llvm.org/docs/BytecodeFormat/. What attributes, types and properties are is not
read: equal ones have equal numbers, and that is all that is asked of them here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["VERSION", "Reader", "ir_section", "op_names"]

VERSION: Final = 6
"""The version of the format that is read; MLIR writes it when asked to."""

_MAGIC: Final = b"ML\xefR"
_STRINGS: Final = 0
_DIALECTS: Final = 1
_IR: Final = 4
_IS_ALIGNED: Final = 0x80
_PADDING: Final = 0xCB


class Reader:
    """A place in a module's bytecode, which moves on as one reads.

    Attributes:
      data: the bytecode.
      position: the index of the next byte.

    """

    def __init__(self, data: bytes, position: int = 0) -> None:
        self.data = data
        self.position: i64 = position

    def byte(self) -> i64:
        """Read one byte."""
        value: i64 = self.data[self.position]
        self.position += 1
        return value

    def number(self) -> i64:
        """Read a number of any length; the zeros that the first byte ends in tell how long."""
        data, position = self.data, self.position
        first: i64 = data[position]
        if first & 1:
            self.position = position + 1
            return first >> 1
        if first & 2:
            second: i64 = data[position + 1]
            self.position = position + 2
            return first >> 2 | second << 6
        if first & 4:
            second = data[position + 1]
            third: i64 = data[position + 2]
            self.position = position + 3
            return first >> 3 | second << 5 | third << 13
        return self._long_number(first)

    def _long_number(self, first: i64) -> i64:
        start = self.position
        if first == 0:
            self.position = start + 9
            return int.from_bytes(self.data[start + 1 : start + 9], "little")
        more: i64 = 3
        while not first & (1 << more):
            more += 1
        end = self.position = start + more + 1
        return int.from_bytes(self.data[start:end], "little") >> int(more + 1)

    def numbers(self, count: i64) -> list[int]:
        """Read `count` numbers."""
        return [int(self.number()) for _ in range(count)]

    def section(self) -> tuple[i64, i64]:
        """Read the head of a section; return its kind and where it ends."""
        kind = self.byte()
        length = self.number()
        if kind & _IS_ALIGNED:
            self.number()
            while self.data[self.position] == _PADDING:
                self.position += 1
        return kind & ~_IS_ALIGNED, self.position + length


def _sections(data: bytes) -> dict[int, int]:
    """Return where the sections of each kind start, behind their heads."""
    reader = Reader(data, len(_MAGIC))
    version = reader.number()
    if not data.startswith(_MAGIC) or version != VERSION:
        raise ValueError(f"expected bytecode of version {VERSION}")
    reader.position = data.index(b"\0", reader.position) + 1
    starts: dict[int, int] = {}
    while reader.position < len(data):
        kind, end = reader.section()
        starts[kind] = reader.position
        reader.position = end
    return starts


def ir_section(data: bytes) -> Reader:
    """Return a reader at the first op."""
    return Reader(data, _sections(data)[_IR])


def op_names(data: bytes) -> list[str]:
    """Return the names of ops, by number."""
    starts = _sections(data)
    strings = _strings(Reader(data, starts[_STRINGS]))
    reader = Reader(data, starts[_DIALECTS])
    dialects: list[str] = []
    for _ in range(reader.number()):
        named = reader.number()
        dialects.append(strings[named >> 1])
        if named & 1:
            _, reader.position = reader.section()
    count = reader.number()
    names: list[str] = []
    while len(names) < count:
        dialect = dialects[reader.number()]
        for _ in range(reader.number()):
            name = strings[reader.number() >> 1]
            names.append(f"{dialect}.{name}" if name else dialect)
    return names


def _strings(reader: Reader) -> list[str]:
    """Read the strings; their lengths come first, the last string's before the others'."""
    lengths = reader.numbers(reader.number())
    strings: list[str] = []
    start = reader.position
    for length in reversed(lengths):
        text = reader.data[start : start + length - 1]
        strings.append(text.decode("utf-8", "surrogateescape"))
        start += length
    return strings
