"""The syntax of textual pipelines, as mlir-opt has it.

    pipeline := element (',' element)*
    element  := name ('(' pipeline ')' | '{' options '}')?
    options  := (key ('=' value)?)*        separated by blanks
    value    := text without blanks, or quoted by '..' or "..", or braced by {..}

An element with parentheses is an anchor op with the passes that run on it; any other is a pass.
"""

from __future__ import annotations

from dataclasses import dataclass

from sdy.dialect.errors import ParseError

__all__ = ["Element", "Option", "parse_elements", "parse_options"]

_NAME_END = frozenset(",(){} \t\n")
_BLANKS = frozenset(" \t\n")
_CLOSING = {"{": "}", "'": "'", '"': '"'}


@dataclass(frozen=True, slots=True)
class Option:
    """One `key=value`; `value` is None for a bare key."""

    key: str
    value: str | None


@dataclass(frozen=True, slots=True)
class Element:
    """A pass with its options, or an anchor op with its elements.

    Attributes:
      name: of the pass or the op.
      options: the text between the braces.
      nested: None for a pass.

    """

    name: str
    options: str = ""
    nested: tuple[Element, ...] | None = None


class _Cursor:
    """A position in a text, and errors that point at it."""

    def __init__(self, text: str, what: str) -> None:
        self.text = text
        self.what = what
        self.at = 0

    def peek(self) -> str:
        """Return the next character, '' at the end."""
        return self.text[self.at : self.at + 1]

    def skip_blanks(self) -> str:
        while self.peek() in _BLANKS and self.peek():
            self.at += 1
        return self.peek()

    def take_until(self, ends: frozenset[str]) -> str:
        start = self.at
        while self.peek() and self.peek() not in ends:
            self.at += 1
        return self.text[start : self.at]

    def take_quoted(self) -> str:
        """Return the text between the bracket or quote here and its counterpart."""
        start = self.at + 1
        pending = [_CLOSING[self.peek()]]
        while pending:
            self.at += 1
            char = self.peek()
            if not char:
                self.at = start - 1
                raise self.error(f"expected a closing '{pending[-1]}' for this")
            if char == pending[-1]:
                pending.pop()
            elif char in _CLOSING and pending[-1] == "}":
                pending.append(_CLOSING[char])
        self.at += 1
        return self.text[start : self.at - 1]

    def error(self, message: str) -> ParseError:
        line = self.text.count("\n", 0, self.at) + 1
        start = self.text.rfind("\n", 0, self.at) + 1
        column = self.at - start + 1
        shown = self.text.splitlines()[line - 1] if self.text else ""
        caret = " " * (column - 1) + "^"
        return ParseError(
            f"{self.what}:{line}:{column}: error: {message}\n{shown}\n{caret}", line, column
        )


def parse_elements(text: str) -> tuple[Element, ...]:
    """Return the elements of a pipeline; ParseError where `text` is none."""
    cursor = _Cursor(text, "pass pipeline")
    try:
        elements = _elements(cursor)
    except RecursionError:
        raise cursor.error("nested too deeply") from None
    if cursor.peek():
        raise cursor.error(f"expected ',' or the end of the pipeline, found '{cursor.peek()}'")
    return elements


def _elements(cursor: _Cursor) -> tuple[Element, ...]:
    if cursor.skip_blanks() in ("", ")"):
        return ()
    elements = [_element(cursor)]
    while cursor.skip_blanks() == ",":
        cursor.at += 1
        elements.append(_element(cursor))
    return tuple(elements)


def _element(cursor: _Cursor) -> Element:
    cursor.skip_blanks()
    name = cursor.take_until(_NAME_END)
    if not name:
        found = f"'{cursor.peek()}'" if cursor.peek() else "the end of the pipeline"
        raise cursor.error(f"expected the name of a pass or an op, found {found}")
    if cursor.peek() == "{":
        return Element(name, cursor.take_quoted().strip())
    if cursor.peek() != "(":
        return Element(name)
    opened = cursor.at
    cursor.at += 1
    nested = _elements(cursor)
    if cursor.peek() != ")":
        cursor.at = cursor.at if cursor.peek() else opened
        raise cursor.error("expected ')' to close the passes of an op")
    cursor.at += 1
    return Element(name, nested=nested)


def parse_options(text: str) -> tuple[Option, ...]:
    """Return the options in the text between a pass's braces; ParseError where it has none."""
    cursor = _Cursor(text, "pass options")
    options = []
    while cursor.skip_blanks():
        key = cursor.take_until(_BLANKS | {"="})
        if not key:
            raise cursor.error("expected the name of an option")
        options.append(Option(key, _value(cursor)))
    return tuple(options)


def _value(cursor: _Cursor) -> str | None:
    if cursor.peek() != "=":
        return None
    cursor.at += 1
    return cursor.take_quoted() if cursor.peek() in _CLOSING else cursor.take_until(_BLANKS)
