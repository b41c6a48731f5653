"""How MLIR spells names: quoted strings, symbols behind an `@`, and the factors of a rule."""

from __future__ import annotations

import re

from sdy.dialect.errors import ArgumentTypeError

__all__ = ["factor_symbol", "is_utf8", "quote", "symbol", "unquote"]

_BARE_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*")
_PRINTED_AS_IS = re.compile(rb"[ !#-\[\]-~]*")
_ESCAPE = re.compile(rb'\\(["\\nt]|[0-9A-Fa-f]{2})')
_SHORT_ESCAPES = {b'"': b'"', b"\\": b"\\", b"n": b"\n", b"t": b"\t"}
_LETTERS = ord("z") - ord("i")


def quote(name: str) -> str:
    r"""Return `name` as MLIR prints a string: quoted, unprintable bytes as `\XX`."""
    if isinstance(name, str) and name.isalnum() and name.isascii():  # most names
        return f'"{name}"'
    encoded = _encode(name)
    if _PRINTED_AS_IS.fullmatch(encoded):
        return f'"{name}"'
    return '"' + "".join(map(_escape, encoded)) + '"'


def _encode(name: str) -> bytes:
    """Return the bytes of `name`; surrogates that stand for raw bytes are those bytes again."""
    try:
        return name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return name.encode("utf-8", "surrogatepass")
    except AttributeError:
        # Names are not checked when axes are made, because propagation makes them by the thousand.
        raise ArgumentTypeError(f"expected a name, got {type(name).__name__}") from None


def is_utf8(name: str, errors: str = "strict") -> bool:
    """Return whether a name can be written; "surrogateescape": with raw bytes if need be."""
    try:
        name.encode("utf-8", errors)
    except UnicodeEncodeError:
        return False
    return True


def _escape(byte: int) -> str:
    if byte == ord("\\"):
        return "\\\\"
    return chr(byte) if 0x20 <= byte < 0x7F and byte != ord('"') else f"\\{byte:02X}"


def unquote(text: str) -> str:
    r"""Return the name that a quoted string means; bytes that are not UTF-8 become surrogates.

    The escapes are those of MLIR's lexer: `\"`, `\\`, `\n`, `\t` and `\XX`.
    """
    body = text[1:-1].encode("utf-8", "surrogateescape")
    return _ESCAPE.sub(_unescape, body).decode("utf-8", "surrogateescape")


def _unescape(match: re.Match[bytes]) -> bytes:
    escaped = match[1]
    return _SHORT_ESCAPES[escaped] if escaped in _SHORT_ESCAPES else bytes.fromhex(escaped.decode())


def symbol(name: str) -> str:
    """Return `name` as MLIR prints it behind an `@`: bare where possible, else quoted."""
    is_bare = (name.isidentifier() and name.isascii()) or _BARE_SYMBOL.fullmatch(name)
    return name if is_bare else quote(name)


def factor_symbol(index: int) -> str:
    """Return the name of a factor: i, j, ... y, z, z_1, z_2, ..."""
    return chr(ord("i") + index) if index <= _LETTERS else f"z_{index - _LETTERS}"
