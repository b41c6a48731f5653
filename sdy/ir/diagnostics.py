"""Located messages: what is wrong, in which file, line and column, with the source line below.

MLIR's own diagnostics are turned into these, and passes make them with `op_error` and `warn`.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from jaxlib.mlir import ir

from sdy.dialect.errors import Error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = [
    "TEXT",
    "Diagnostic",
    "DiagnosticError",
    "ShardingWarning",
    "Source",
    "collect_warnings",
    "errors_as_exceptions",
    "file_location",
    "op_error",
    "render",
    "verify",
    "warn",
    "warn_once",
]

Severity = Literal["error", "warning", "note", "remark"]

TEXT = "<text>"
"""What messages call text that was in no file."""

_NO_FILE = "-"
"""What MLIR calls such text."""

_TAB_WIDTH = 8
_LONGEST_LINE = 400
_CURRENT_OPERATION = "see current operation: "


class ShardingWarning(UserWarning):
    """What a pass wants the user to know though it went on."""


@dataclass(frozen=True, slots=True)
class Source:
    """The text that messages point into.

    Attributes:
      name: of the file, as messages print it.
      text: the whole text; None where it is not text or not at hand.

    """

    name: str
    text: str | None = None

    def line(self, file: str, number: int) -> str | None:
        """Return the line of that number (from 1) of that file; None where it is not known."""
        if self.text is None or file not in (_NO_FILE, self.name):
            return None
        lines = self.text.split("\n")
        return lines[number - 1] if 0 < number <= len(lines) else None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message.

    Attributes:
      severity: error, warning, note or remark.
      message: what is wrong, without place and severity.
      file: None where the place is not known; then line and column are 0.
      line: from 1.
      column: from 1.
      notes: further messages about the same matter.

    """

    severity: Severity
    message: str
    file: str | None = None
    line: int = 0
    column: int = 0
    notes: tuple[Diagnostic, ...] = ()

    def flatten(self) -> Iterator[Diagnostic]:
        """Yield this and its notes."""
        yield self
        for note in self.notes:
            yield from note.flatten()


class DiagnosticError(Error):
    """Errors at places in the input.

    Attributes:
      diagnostics: the errors, and what MLIR said along with them.

    """

    def __init__(self, diagnostics: Sequence[Diagnostic], source: Source | None = None) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(render(d, source) for d in self.diagnostics))


def render(diagnostic: Diagnostic, source: Source | None = None) -> str:
    """Return `file:line:col: severity: message`, the source line and a caret; notes after it."""
    return "\n".join(_render_one(d, source) for d in diagnostic.flatten())


def _render_one(diagnostic: Diagnostic, source: Source | None) -> str:
    file = diagnostic.file
    if source is not None and file in (None, _NO_FILE):
        file = source.name
    elif file == _NO_FILE:
        file = TEXT
    text = f"{diagnostic.severity}: {diagnostic.message}"
    if diagnostic.file is None or not diagnostic.line:
        return f"{file}: {text}" if file else text
    text = f"{file}:{diagnostic.line}:{diagnostic.column}: {text}"
    line = None if source is None else source.line(diagnostic.file, diagnostic.line)
    return text + "\n" + _excerpt(line, diagnostic.column) if line and line.strip() else text


def _excerpt(line: str, column: int) -> str:
    """Return the line, shortened around the column where it is long, and a caret below."""
    before = line[: column - 1].expandtabs(_TAB_WIDTH)
    shown = line.expandtabs(_TAB_WIDTH)
    start = max(0, len(before) - _LONGEST_LINE // 2)
    shown = shown[start : start + _LONGEST_LINE].rstrip()
    return f"{shown}\n{' ' * (len(before) - start)}^"


def file_location(location: ir.Location) -> tuple[str, int, int] | None:
    """Return the first file, line and column that a location names; None where it names none."""
    if isinstance(location, ir.FileLineColLoc):
        return _file_name(location), location.start_line, location.start_col
    for nested in _nested_locations(location):
        found = file_location(nested)
        if found is not None:
            return found
    return None


def _file_name(location: ir.FileLineColLoc) -> str:
    """Return the file of a location, with escapes where it is not plain text.

    `filename` kills the process where the name is not UTF-8; the text of the location does not.
    """
    text = str(location)
    name: str = text.partition('"')[2].rpartition('"')[0] if "\\" in text else location.filename
    return name


def _nested_locations(location: ir.Location) -> Sequence[ir.Location]:
    if isinstance(location, ir.NameLoc):
        return (location.child_loc,)
    if isinstance(location, ir.CallSiteLoc):
        return (location.callee, location.caller)
    if isinstance(location, ir.FusedLoc):
        return cast("Sequence[ir.Location]", location.locations)
    return ()


def _located(
    severity: Severity,
    message: str,
    location: ir.Location,
    notes: tuple[Diagnostic, ...] = (),
) -> Diagnostic:
    file, line, column = file_location(location) or (None, 0, 0)
    return Diagnostic(severity, message, file, line, column, notes)


def _from_mlir(diagnostic: ir.Diagnostic | ir.DiagnosticInfo) -> Diagnostic:
    """Return one of MLIR's diagnostics without the op that it prints after it."""
    try:
        message = diagnostic.message
    except (RuntimeError, UnicodeDecodeError):
        message = "something is wrong with a name that is not UTF-8"
    notes = (_from_mlir(note) for note in diagnostic.notes)
    kept = tuple(note for note in notes if not note.message.startswith(_CURRENT_OPERATION))
    severity = cast("Severity", diagnostic.severity.name.lower())
    return _located(severity, message, diagnostic.location, kept)


@contextmanager
def errors_as_exceptions(context: ir.Context, source: Source | None = None) -> Iterator[None]:
    """Raise `DiagnosticError` with what MLIR says where it fails; pass its warnings to `warn`.

    A failure is an `MLIRError`, or a pass or verifier that returns false after saying why.
    """
    said: list[Diagnostic] = []

    def keep(diagnostic: ir.Diagnostic) -> bool:
        said.append(_from_mlir(diagnostic))
        return True

    handler = context.attach_diagnostic_handler(keep)
    outer = context.emit_error_diagnostics
    context.emit_error_diagnostics = True
    try:
        yield
    except ir.MLIRError as error:
        known = [*said, *map(_from_mlir, error.error_diagnostics)]
        raise DiagnosticError(known or [Diagnostic("error", str(error))], source) from None
    finally:
        context.emit_error_diagnostics = outer
        handler.detach()
    if any(diagnostic.severity == "error" for diagnostic in said):
        raise DiagnosticError(said, source)
    for diagnostic in said:
        _report(diagnostic)


def verify(module: ir.Module, source: Source | None = None) -> None:
    """Run MLIR's verifier; DiagnosticError where the module is not valid."""
    with errors_as_exceptions(module.context, source):
        module.operation.verify()


def op_error(op: ir.Operation | ir.OpView, message: str) -> DiagnosticError:
    """Return the error that says what is wrong with an op, at its place."""
    return DiagnosticError([_located("error", message, op.location)])


_collectors: ContextVar[Callable[[Diagnostic], None] | None] = ContextVar(
    "sdy_warnings", default=None
)


def warn(op: ir.Operation | ir.OpView, message: str) -> None:
    """Warn about an op: to the collector of `collect_warnings`, else as a Python warning."""
    _report(_located("warning", message, op.location))


_topics_warned_about: set[str] = set()


def warn_once(topic: str, op: ir.Operation | ir.OpView, message: str) -> None:
    """Warn about an op, unless this process has had a warning on that topic before."""
    if topic not in _topics_warned_about:
        _topics_warned_about.add(topic)
        warn(op, message)


def _report(diagnostic: Diagnostic) -> None:
    collector = _collectors.get()
    if collector is None:
        warnings.warn(render(diagnostic), ShardingWarning, stacklevel=3)
    else:
        collector(diagnostic)


@contextmanager
def collect_warnings(collector: Callable[[Diagnostic], None]) -> Iterator[None]:
    """Give the warnings of the block to `collector`."""
    token = _collectors.set(collector)
    try:
        yield
    finally:
        _collectors.reset(token)
