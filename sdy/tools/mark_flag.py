"""What `--mark` takes: a value of a module, and the partition spec to mark it with.

    mark     := function ':' value '=' (mesh ':')? spec?
    function := '@' name ('::@' name)*
    mesh     := '@' name                          the module's only mesh by default
    value    := 'arg' number | 'result' number | '%' name as printed
    spec     := entry (',' entry)*                none for a scalar
    entry    := 'None' | axis | '(' axis (',' axis)* ','? ')'
    axis     := name | index                      of the mesh
    name     := letters, digits, '_', '.', '$', '-', or a string in double quotes

A quoted axis is always a name. Blanks may stand between tokens.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from sdy.dialect.errors import Error, ParseError
from sdy.dialect.names import symbol, unquote

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from jaxlib.mlir import ir

    from sdy.dialect.partition_spec import Axis, Entry
    from sdy.ir.binding import AnyValue

__all__ = ["Mark", "apply_marks", "parse_mark"]

T = TypeVar("T")

_TOKEN = re.compile(
    r"""(?P<quoted>"(?:[^"\\]|\\.)*") | (?P<nested>::@) | (?P<value>%[\w.$-]+(?:\#\d+)?)
      | (?P<word>[\w.$-]+) | (?P<mark>[@:=,()])""",
    re.VERBOSE | re.ASCII,
)
_SIGNATURE_VALUE = re.compile(r"(arg|result)(\d{1,9})", re.ASCII)
_BLANKS = " \t\n"


@dataclass(frozen=True, slots=True)
class Mark:
    """One `--mark`.

    Attributes:
      text: as given.
      function: the name of a function, without the first @.
      value: what `find_value` calls the value.
      mesh: the name of a mesh; None for the module's only one.
      spec: an entry for each dimension.

    """

    text: str
    function: str
    value: str
    mesh: str | None
    spec: tuple[Entry, ...]


def apply_marks(marks: Sequence[Mark], module: ir.Module) -> None:
    """Mark values of a module, named as they are before the first mark.

    Raises:
      Error: naming the mark, or the place in the module, that is wrong.

    """
    # Imported here because the process that reads the flags does without MLIR.
    from sdy.ir.marking import mark_value
    from sdy.ir.values import find_value

    values: list[AnyValue] = [
        _naming(mark, partial(find_value, module, mark.value, mark.function)) for mark in marks
    ]
    for mark, value in zip(marks, values, strict=True):
        _naming(mark, partial(mark_value, value, mark.mesh, mark.spec))


def _naming(mark: Mark, action: Callable[[], T]) -> T:
    """Return what an action returns; its errors without a place of their own name the mark."""
    from sdy.ir.diagnostics import DiagnosticError

    try:
        return action()
    except Error as error:
        if isinstance(error, DiagnosticError):
            raise
        raise Error(f"--mark='{mark.text}': {error}") from None


def parse_mark(text: str) -> Mark:
    """Return the mark that `text` means; ParseError at the first wrong token."""
    return _Parser(text).parse()


class _Parser:
    """Reads one mark from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._next()

    def parse(self) -> Mark:
        function = self._function()
        self._expect(":", "after the function")
        value = self._value(function)
        self._expect("=", "after the value")
        mesh = self._mesh()
        spec = self._spec()
        if self._token:
            raise self._error("expected ',' or the end of the mark")
        return Mark(self._text, function, value, mesh, spec)

    def _next(self) -> None:
        """Go to the next token; its kind and text are empty at the end."""
        while self._text[self._at : self._at + 1] in _BLANKS and self._at < len(self._text):
            self._at += 1
        found = _TOKEN.match(self._text, self._at)
        self._start = self._at
        self._kind = (found and found.lastgroup) or ""
        self._token = found[0] if found else self._text[self._at : self._at + 1]
        self._at += len(self._token)

    def _error(self, message: str) -> ParseError:
        found = f"'{self._token}'" if self._token else "the end"
        return ParseError.at(self._text, self._start, f"{message}, found {found}")

    def _take(self, mark: str) -> bool:
        if self._token != mark:
            return False
        self._next()
        return True

    def _expect(self, mark: str, where: str) -> None:
        if not self._take(mark):
            raise self._error(f"expected '{mark}' {where}")

    def _name(self, what: str) -> str:
        if self._kind not in ("quoted", "word"):
            raise self._error(f"expected {what}")
        name = unquote(self._token) if self._kind == "quoted" else self._token
        self._next()
        return name

    def _function(self) -> str:
        self._expect("@", "and the name of a function")
        names = [self._name("the name of a function")]
        while self._take("::@"):
            names.append(self._name("the name of a function"))
        return "::@".join(names)

    def _value(self, function: str) -> str:
        signature = _SIGNATURE_VALUE.fullmatch(self._token)
        if signature is None and self._kind != "value":
            raise self._error("expected a value, such as arg0, result0 or %0")
        name = self._token
        self._next()
        if signature is None:
            return name
        number = int(signature[2])
        return f"%arg{number}" if signature[1] == "arg" else f"@{function} result {number}"

    def _mesh(self) -> str | None:
        if not self._take("@"):
            return None
        name = self._name("the name of a mesh")
        self._expect(":", f"between the mesh @{symbol(name)} and the partition spec")
        return name

    def _spec(self) -> tuple[Entry, ...]:
        if not self._token:
            return ()
        entries = [self._entry()]
        while self._take(","):
            entries.append(self._entry())
        return tuple(entries)

    def _entry(self) -> Entry:
        if self._take("None"):
            return None
        if not self._take("("):
            return self._axis()
        axes = [self._axis()]
        while self._take(",") and self._token != ")":
            axes.append(self._axis())
        self._expect(")", "after the axes of one dimension")
        return tuple(axes)

    def _axis(self) -> Axis:
        is_index = self._kind == "word" and self._token.isdecimal()
        name = self._name("None, an axis of the mesh, or a tuple of axes")
        return int(name) if is_index else name
