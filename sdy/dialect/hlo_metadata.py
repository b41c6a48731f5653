"""What an `HloSharding` carries that says nothing of placement: shard groups and op metadata."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from enum import Enum

__all__ = ["OpMetadata", "ShardGroup", "ShardGroupKind", "escape", "unescape"]

_SHORT_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t", '"': r"\"", "'": r"\'", "\\": r"\\"}
_LONG_ESCAPES = {"n": 10, "r": 13, "t": 9, "a": 7, "b": 8, "f": 12, "v": 11}
_ESCAPE = re.compile(rb"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{1,2})|(?P<char>.))", re.S)


class ShardGroupKind(Enum):
    """Whether the members of a shard group have the very same sharding or a compatible one."""

    AS = "shard_as"
    LIKE = "shard_like"


@dataclass(frozen=True, slots=True)
class ShardGroup:
    """The group of tensors of one sharding to which a tensor belongs."""

    kind: ShardGroupKind
    number: int

    def __str__(self) -> str:
        return f"{self.kind.value} {self.number}"


@dataclass(frozen=True, slots=True)
class OpMetadata:
    """Where an op comes from, in the fields and the order of XLA's text; empty ones are not said.

    Attributes:
      op_type: the kind of op in the framework's own terms.
      op_name: the op's name in the framework's own terms.
      source_file: the file of the user's program.
      source_line: 1-based; 0 if not known, as the three that follow.
      source_end_line: the last line.
      source_column: the first column.
      source_end_column: the last column.
      profile_type: numbers of XLA's `ProfileType`.
      deduplicated_name: the name of the op of which this is a copy.
      scheduling_name: the name that the scheduler gave the op.
      stack_frame_id: the op's place in the module's index of stack frames.

    """

    op_type: str = ""
    op_name: str = ""
    source_file: str = ""
    source_line: int = 0
    source_end_line: int = 0
    source_column: int = 0
    source_end_column: int = 0
    profile_type: tuple[int, ...] = ()
    deduplicated_name: str = ""
    scheduling_name: str = ""
    stack_frame_id: int = 0

    def __str__(self) -> str:
        entries = ((field.name, getattr(self, field.name)) for field in fields(self))
        return " ".join(f"{name}={_text(value)}" for name, value in entries if value)


def _text(value: str | int | tuple[int, ...]) -> str:
    if isinstance(value, str):
        return f'"{escape(value)}"'
    return "{" + ",".join(map(str, value)) + "}" if isinstance(value, tuple) else str(value)


def escape(text: str) -> str:
    r"""Return `text` as XLA writes it in a string: quotes escaped, other bytes as `\ooo`."""
    return "".join(map(_escaped, text))


def _escaped(char: str) -> str:
    if char in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[char]
    if " " <= char <= "~":
        return char
    return "".join(f"\\{byte:03o}" for byte in char.encode("utf-8", "surrogateescape"))


def unescape(text: str) -> str:
    """Return what the content of a string means; bytes that are not UTF-8 become surrogates."""
    raw = text.encode("utf-8", "surrogateescape")
    return _ESCAPE.sub(_unescaped, raw).decode("utf-8", "surrogateescape")


def _unescaped(match: re.Match[bytes]) -> bytes:
    if match["octal"]:
        return bytes([int(match["octal"], 8) & 0xFF])
    if match["hex"]:
        return bytes([int(match["hex"], 16)])
    char = match["char"]
    code = _LONG_ESCAPES.get(char.decode("latin-1"))
    return char if code is None else bytes([code])
