"""What the words of a sharding's text mean: integers, priorities, factors and tensor types.

The grammar lets these through as single words; here each is checked, as MLIR and Shardy do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sdy.dialect.names import factor_symbol

if TYPE_CHECKING:
    from lark import Token

__all__ = [
    "WordError",
    "read_factor_size",
    "read_factors",
    "read_first_factor",
    "read_integer",
    "read_integers",
    "read_priority",
    "read_shape",
    "shortened",
]

_MAX_LENGTH = 40
_INT64_BITS = 64
_INT64_DIGITS = 19
_COMMENT = re.compile(r"//[^\n\r]*")
_ONE_BIT = {"true": -1, "false": 0}
_FACTOR = re.compile(r"z_(?P<number>[0-9]*)|(?P<letter>[i-z])")
_DIMENSION = re.compile(r"\s*(?:(?P<size>[0-9]+)|\?)\s*x")


class WordError(Exception):
    """A word that the grammar allows and that is wrong all the same.

    Attributes:
      position: 0-based, of the first wrong character.

    """

    def __init__(self, token: Token, message: str, offset: int = 0) -> None:
        super().__init__(message)
        self.position = (token.start_pos or 0) + offset


def shortened(text: str) -> str:
    """Return `text` as a message can quote it: not too long, nothing unprintable."""
    cut = text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 3] + "..."
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in cut)


def read_integer(token: Token, bits: int = _INT64_BITS) -> int:
    """Return a decimal or hexadecimal integer, which must fit in so many bits.

    MLIR also reads `true` and `false`, as signed integers of one bit: -1 and 0.
    """
    return _checked(token, _unlimited_integer(token, _COMMENT.sub("", token)), bits)


def read_integers(token: Token) -> tuple[int, ...]:
    """Return 64-bit integers with commas between them."""
    entries = _COMMENT.sub("", token).split(",")
    return tuple(_checked(token, _unlimited_integer(token, e), _INT64_BITS) for e in entries)


def _checked(token: Token, value: int, bits: int) -> int:
    if value.bit_length() >= bits and value != -(2 ** (bits - 1)):
        raise WordError(token, "integer value too large")
    return value


def _unlimited_integer(token: Token, text: str) -> int:
    text = text.strip()
    if len(text) <= _INT64_DIGITS and text.isdigit():
        return int(text)
    if text in _ONE_BIT:
        return _ONE_BIT[text]
    digits = text.removeprefix("-").lstrip()
    base = 16 if digits.startswith("0x") else 10
    digits = digits.removeprefix("0x").lstrip("0") or "0"
    if len(digits) > _INT64_DIGITS:
        raise WordError(token, "integer value too large")
    return -int(digits, base) if text.startswith("-") else int(digits, base)


def read_priority(token: Token | None) -> int | None:
    """Return the priority that the word behind a dimension gives, such as `p1`."""
    if token is None:
        return None
    digits = token[1:]
    if token[0] != "p" or not (digits.isascii() and digits.isdigit()):
        raise WordError(token, f"expecting priority in format 'p<number>', got: {shortened(token)}")
    if digits[0] == "0" and digits != "0":
        raise WordError(
            token, f"priorities with leading zeros are not allowed, got: {shortened(token)}"
        )
    if len(digits) > _INT64_DIGITS or int(digits) >= 2**63:
        raise WordError(token, f"expecting integer priority, got: {shortened(token)}")
    return int(digits)


def read_factors(token: Token) -> tuple[int, ...]:
    """Return the factors of a dimension such as `i`, `ij` or `zz_1`."""
    factors: list[int] = []
    position = 0
    while position < len(token):
        factor, position = _read_factor(token, position)
        factors.append(factor)
    return tuple(factors)


def read_first_factor(token: Token) -> int:
    """Return the factor with which a word begins: Shardy ignores what follows it in a set."""
    return _read_factor(token, 0)[0]


def read_factor_size(index: int, name: Token, size: Token) -> int:
    """Return the size in an entry such as `j=8`, which must be the one at `index`."""
    factor, end = _read_factor(name, 0)
    if factor != index:
        raise WordError(
            name,
            "expecting factor indices to be ordered like an iota ([0,1,2,...], e.g. "
            f"{{i=#, j=#, ...}}). Expecting factor index symbol '{factor_symbol(index)}', "
            f"received: '{factor_symbol(factor)}'",
        )
    if end < len(name):
        raise WordError(name, f"expecting single factor symbol: {shortened(name[end:])}", end)
    return read_integer(size, bits=32)


def _read_factor(token: Token, position: int) -> tuple[int, int]:
    """Return the factor that is named at `position`, and where its name ends."""
    match = _FACTOR.match(token, position)
    if match is None:
        received = token[position]
        raise WordError(
            token, f"expecting symbol from 'i' to 'z'. Received: '{received}'", position
        )
    if match["letter"]:
        return ord(match["letter"]) - ord("i"), match.end()
    number = match["number"]
    if not number:
        received = shortened(token[position:])
        raise WordError(token, f"expecting integer after 'z_'. Received: '{received}'", position)
    received = shortened(number)
    if number.startswith("0"):
        message = f"expecting positive integer without leading zeros. Received: '{received}'"
        raise WordError(token, message, position)
    if len(number) > _INT64_DIGITS or int(number) >= 2**63:
        raise WordError(token, f"expecting symbol index <=2^63-1. Received: '{received}'", position)
    return ord("z") - ord("i") + int(number), match.end()


def read_shape(token: Token | None) -> tuple[int | None, ...] | None:
    """Return the shape of a type such as `tensor<4x?xf32>`, None for a dynamic dimension."""
    if token is None:
        return None
    content = token.removeprefix("tensor<")
    if content.lstrip().startswith("*"):
        raise WordError(token, f"only ranked tensors can have a sharding. type: {shortened(token)}")
    shape: list[int | None] = []
    position = 0
    while match := _DIMENSION.match(content, position):
        shape.append(_unlimited_integer(token, match["size"]) if match["size"] else None)
        position = match.end()
    return tuple(shape)
