"""Programs in: from text, files, bytecode, portable artifacts and JAX, to a module of our own."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from jaxlib.mlir import ir

from sdy.dialect.errors import ArgumentTypeError
from sdy.ir.bytecode import to_bytecode
from sdy.ir.context import make_context
from sdy.ir.diagnostics import TEXT, Diagnostic, DiagnosticError, Source, errors_as_exceptions

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Lowered",
    "check_nesting",
    "decode",
    "is_bytecode",
    "load",
    "parse_bytes",
    "parse_text",
    "read_bytes",
]

MAX_NESTING = 1000
"""MLIR recurses on nested text; the stack of a main thread holds about twice as much."""

_BYTECODE_MAGIC = b"ML\xefR"
_ARTIFACT_PRODUCER = b"StableHLO_v"
_PRODUCER_WITHIN = 32
_FILE_SUFFIXES = (".mlir", ".mlirbc", ".txt")

_WORD = re.compile(r"[\w.~/\\:-]{1,1000}")

_DEPTH_CHANGE = np.zeros(256, np.int8)
_DEPTH_CHANGE[list(b"([{")] = 1
_DEPTH_CHANGE[list(b")]}")] = -1


@runtime_checkable
class Lowered(Protocol):
    """What is used of a `jax.stages.Lowered`."""

    def compiler_ir(self, dialect: str | None = None) -> Any:
        """Return the program as an MLIR module."""


def load(
    program: str | bytes | bytearray | memoryview | os.PathLike[str] | Lowered | ir.Module,
) -> ir.Module:
    """Return a program as an MLIR module, in a context of its own that has every dialect.

    MLIR trusts bytecode: where it is corrupt, reading it may end the process. Load it from
    sources that you trust, and text from any.

    Args:
      program: MLIR text; the path of a file that holds any of these; MLIR bytecode or a StableHLO
        portable artifact; what `jax.jit(f).lower(...)` returns; or a module, which is returned as
        it is. A str is a path where a file of that name exists, or where it ends like one.

    Raises:
      Error: where the program cannot be read, or is not valid; the message says where.

    """
    match program:
        case ir.Module():
            return program
        case str() if not _is_path(program):
            return _parse_str(program)
        case str() | os.PathLike():
            return _read_file(os.fsdecode(program))
        case bytes() | bytearray() | memoryview():
            return parse_bytes(bytes(program), "<bytes>", make_context())
        case Lowered():
            return _reparse(program.compiler_ir("stablehlo"))
    raise ArgumentTypeError(
        "program: expected MLIR text, a path, bytes, a jax.stages.Lowered or an ir.Module, "
        f"got {type(program).__name__}"
    )


def _parse_str(text: str) -> ir.Module:
    source = Source(TEXT, text)
    if not text.strip():
        raise _error_at(source, 1, 1, "expected a module, found no text")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        line, column = _place(text[: error.start].encode(), len(text[: error.start].encode()))
        raise _error_at(source, line, column, "not a character: half of a surrogate") from None
    check_nesting(text, source)
    try:
        return parse_text(text, source, make_context())
    except DiagnosticError as error:
        raise _with_hint(error, text, source) from None


def _with_hint(error: DiagnosticError, text: str, source: Source) -> DiagnosticError:
    """Return an error that also says that no file has that name, where text could be a path."""
    if not _WORD.fullmatch(text.strip()):
        return error
    first, *rest = error.diagnostics
    hint = Diagnostic("note", f"no such file: '{text.strip()}'; taken for MLIR text")
    return DiagnosticError([replace(first, notes=(hint, *first.notes)), *rest], source)


def _is_path(text: str) -> bool:
    if "\n" in text or "\0" in text:
        return False
    return text.endswith(_FILE_SUFFIXES) or os.path.exists(text)


def _reparse(module: ir.Module) -> ir.Module:
    """Return the module in a context of ours, with its locations; by way of bytecode."""
    return parse_bytes(to_bytecode(module), "<lowered>", make_context())


def _read_file(path: str) -> ir.Module:
    return parse_bytes(read_bytes(path), path, make_context(), is_file=True)


def read_bytes(path: str) -> bytes:
    """Return what a file holds; `sdy.Error` where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise _file_error(path, f"cannot read: {reason}") from None


def parse_bytes(
    data: bytes,
    name: str,
    context: ir.Context,
    *,
    is_file: bool = False,
    max_nesting: int = MAX_NESTING,
) -> ir.Module:
    """Return the module in bytecode, a portable artifact or UTF-8 text.

    Corrupt bytecode may kill the process: MLIR trusts it.

    Args:
      data: what the file holds.
      name: of the file, for messages.
      context: takes the module.
      is_file: whether `name` is a file that MLIR can read itself; locations then name it.
      max_nesting: how deep brackets may be nested. MLIR's parser recurses.

    """
    if is_bytecode(data):
        return _parse_bytecode(data, name, context)
    text = decode(data, name)
    source = Source(name, text)
    if not text.strip():
        raise _error_at(source, 1, 1, "expected a module, found an empty file")
    check_nesting(text, source, max_nesting)
    if is_file and os.path.isfile(name) and _is_utf8(name):
        with errors_as_exceptions(context, source):
            return _parse(lambda: ir.Module.parseFile(name, context), name)
    return parse_text(text, source, context)


def _is_utf8(text: str) -> bool:
    """Return whether MLIR can be given a text; a file may have a name of other bytes."""
    return not any("\ud800" <= char <= "\udfff" for char in text)


def is_bytecode(data: bytes) -> bool:
    """Return whether this is MLIR bytecode; a portable artifact is, too."""
    return data.startswith(_BYTECODE_MAGIC)


def decode(data: bytes, name: str) -> str:
    """Return UTF-8 as text; DiagnosticError with the place of the first byte that is not."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line, column = _place(data, error.start)
        message = f"expected UTF-8 text or MLIR bytecode, found byte 0x{data[error.start]:02x}"
        source = Source(name, data.decode("utf-8", "replace"))
        raise _error_at(source, line, column, message) from None


def check_nesting(text: str, source: Source, limit: int = MAX_NESTING) -> None:
    """Raise a DiagnosticError where brackets are nested deeper than `limit`."""
    if sum(map(text.count, "([{")) <= limit:
        return
    data = text.encode("utf-8", "replace")
    depth = np.cumsum(_DEPTH_CHANGE[np.frombuffer(data, np.uint8)], dtype=np.int32)
    if depth.max() > limit:
        line, column = _place(data, int(np.argmax(depth > limit)))
        raise _error_at(source, line, column, f"nested more than {limit} deep")


def _place(data: bytes, offset: int) -> tuple[int, int]:
    """Return line and column of a byte, both from 1."""
    line = data.count(b"\n", 0, offset) + 1
    return line, offset - data.rfind(b"\n", 0, offset)


def _error_at(source: Source, line: int, column: int, message: str) -> DiagnosticError:
    return DiagnosticError([Diagnostic("error", message, source.name, line, column)], source)


def _file_error(file: str, message: str) -> DiagnosticError:
    return DiagnosticError([Diagnostic("error", message, file)])


def parse_text(text: str, source: Source, context: ir.Context) -> ir.Module:
    """Return the module that `text` spells; DiagnosticError with places in `source`."""
    with errors_as_exceptions(context, source):
        return _parse(lambda: ir.Module.parse(text, context), source.name)


def _parse_bytecode(data: bytes, name: str, context: ir.Context) -> ir.Module:
    with errors_as_exceptions(context, Source(name)):
        if _ARTIFACT_PRODUCER not in data[:_PRODUCER_WITHIN]:
            return _parse(lambda: ir.Module.parse(data, context), name)
        from jaxlib.mlir.dialects import stablehlo

        return _parse(lambda: stablehlo.deserialize_portable_artifact(context, data), name)


def _parse(parse: Callable[[], ir.Module], name: str) -> ir.Module:
    """Call one of MLIR's parsers; what it raises beside `MLIRError` becomes an `sdy.Error`."""
    try:
        return parse()
    except ir.MLIRError:
        raise
    except MemoryError:
        raise _file_error(name, "not enough memory: the file is too large or corrupt") from None
    except (ValueError, RuntimeError) as error:
        raise _file_error(name, str(error)) from None
