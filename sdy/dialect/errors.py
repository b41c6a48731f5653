"""The errors a user meets; every one of them says what is wrong and what was expected."""

from __future__ import annotations

__all__ = ["ArgumentTypeError", "Error", "ParseError", "VerifyError", "check_type"]

_EXCERPT_BEFORE = 50
_EXCERPT_LENGTH = 90


class Error(Exception):
    """The base of every error that bad input causes."""


class ArgumentTypeError(Error, TypeError):
    """An argument of a Python type that the function does not take."""


def check_type(value: object, types: type | tuple[type, ...], name: str, expected: str) -> None:
    """Check the type of an argument of a public function.

    Args:
      value: the argument.
      types: what it may be an instance of.
      name: of the argument.
      expected: what messages call these types, such as "an ir.Module".

    Raises:
      ArgumentTypeError: where it is an instance of none.

    """
    if not isinstance(value, types):
        raise ArgumentTypeError(f"{name}: expected {expected}, got {type(value).__name__}")


class ParseError(Error):
    """Text that is not what it should be.

    Attributes:
      line: 1-based line of the first wrong character.
      column: 1-based column of it.

    """

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.line = line
        self.column = column

    @staticmethod
    def at(text: str, position: int, message: str) -> ParseError:
        """Return the error at a 0-based position of `text`, with that line and a caret."""
        line_start = text.rfind("\n", 0, position) + 1
        line, column = text.count("\n", 0, line_start) + 1, position - line_start + 1
        source = text[line_start:].split("\n", 1)[0]
        excerpt = f"{line}:{column}: error: {message}\n" + _excerpt(source, column - 1)
        return ParseError(excerpt, line, column)


class VerifyError(Error):
    """A value that parses but breaks an invariant of the dialect."""


def _excerpt(source: str, offset: int) -> str:
    """Return the part of a line around `offset`, and below it a caret that points there."""
    start = max(0, offset - _EXCERPT_BEFORE)
    visible = source[start : start + _EXCERPT_LENGTH]
    printable = "".join(char if char.isprintable() else " " for char in visible)
    return f"  {printable}\n  {' ' * (offset - start)}^"
