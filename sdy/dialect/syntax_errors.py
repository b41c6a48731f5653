"""What lark did not expect, as an error that says what it would have taken instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lark.exceptions import UnexpectedToken
from lark.lexer import PatternStr

from sdy.dialect.errors import ParseError
from sdy.dialect.words import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lark import Lark
    from lark.exceptions import UnexpectedInput

__all__ = ["syntax_error"]

_END = "end of text"


def syntax_error(
    text: str, error: UnexpectedInput, parser: Lark, names: Mapping[str, str]
) -> ParseError:
    """Return the error for what `parser` met in `text`.

    Args:
      text: what it read.
      error: what it raised.
      parser: an LALR parser.
      names: what messages call the terminals that are no fixed words.

    """
    token = error.token if isinstance(error, UnexpectedToken) else None
    if token is not None and token.type == "$END":
        position, found = len(text.rstrip()), _END
    elif token is not None:
        position, found = token.start_pos or 0, f"'{shortened(token)}'"
    else:
        position = error.pos_in_stream or 0
        found = f"'{shortened(text[position])}'"
        if text[position] == '"' and "STRING" in names:
            found = r"a string without end or with an escape other than \" \\ \n \t \XX"
    expected = sorted(_readable(each, parser, names) for each in _acceptable(error))
    return ParseError.at(text, position, f"expected {_one_of(expected)}, found {found}")


def _acceptable(error: UnexpectedInput) -> Iterable[str]:
    """Return the terminals that may stand where `error` is."""
    interactive = getattr(error, "interactive_parser", None)
    return interactive.accepts() if interactive is not None else ()


def _readable(terminal: str, parser: Lark, names: Mapping[str, str]) -> str:
    if terminal == "$END":
        return _END
    if terminal in names:
        return names[terminal]
    pattern = parser.get_terminal(terminal).pattern
    return f"'{pattern.value}'" if isinstance(pattern, PatternStr) else terminal.lower()


def _one_of(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
