"""The wire format of protocol buffers: a message is a sequence of numbered fields.

Only what XLA's shardings need: integers (varints) and bytes with a length. A field whose value
is the default, 0 or nothing, is not written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.dialect.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["bytes_field", "fields", "integer", "integer_field", "integers_field", "read_integers"]

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_FIXED_SIZES = {_FIXED64: 8, _FIXED32: 4}
_WORD = 1 << 64


def integer_field(number: int, value: int) -> bytes:
    """Return a field that holds an integer."""
    return _varint(number << 3 | _VARINT) + _varint(value) if value else b""


def integers_field(number: int, values: Sequence[int]) -> bytes:
    """Return a field that holds a list of integers, packed."""
    return bytes_field(number, b"".join(map(_varint, values))) if values else b""


def bytes_field(number: int, value: bytes) -> bytes:
    """Return a field that holds bytes: a string, or a message, which is written if empty too."""
    return _varint(number << 3 | _BYTES) + _varint(len(value)) + value


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the number and the value of every field, integers as they are, all else as bytes.

    Raises:
      Error: if the bytes are no message.

    """
    position = 0
    while position < len(message):
        tag, position = _read_varint(message, position)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, position = _read_varint(message, position)
            yield number, value
            continue
        if kind == _BYTES:
            size, position = _read_varint(message, position)
        elif kind in _FIXED_SIZES:
            size = _FIXED_SIZES[kind]
        else:
            raise Error(f"no protocol buffer: a field of kind {kind}")
        if position + size > len(message):
            raise Error("no protocol buffer: it ends within a field")
        yield number, message[position : position + size]
        position += size


def integer(value: int | bytes) -> int:
    """Return a field's value as a signed integer; Error if it is none."""
    if isinstance(value, bytes):
        raise Error("no protocol buffer of a sharding: bytes where an integer was expected")
    return value - _WORD if value >= _WORD >> 1 else value


def read_integers(values: Iterable[int | bytes]) -> list[int]:
    """Return the list of integers that a field gives, packed or one by one."""
    numbers: list[int] = []
    for value in values:
        if isinstance(value, int):
            numbers.append(integer(value))
            continue
        position = 0
        while position < len(value):
            number, position = _read_varint(value, position)
            numbers.append(integer(number))
    return numbers


def _varint(value: int) -> bytes:
    rest = value % _WORD
    encoded = bytearray()
    while rest > 0x7F:
        encoded.append(rest & 0x7F | 0x80)
        rest >>= 7
    encoded.append(rest)
    return bytes(encoded)


def _read_varint(message: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while position < len(message):
        byte = message[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value % _WORD, position
        shift += 7
    raise Error("no protocol buffer: it ends within a number")
