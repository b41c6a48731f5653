"""`expected-error` comments in the input, compared with what was said of it, as MLIR does.

    // expected-error@+1 {{text that the message contains}}
    // expected-note-re @below {{text with {{a regular expression}} in it}}

The place is `@+N` or `@-N` lines from the comment, `@above` or `@below` (the nearest line without
such a comment), `@unknown` (a message without a place), or the comment's own line. Each comment
must come true at least once, and each message must have its comment.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdy.ir.diagnostics import Diagnostic, DiagnosticError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Expectation", "compare", "read_expectations"]

_COMMENT = re.compile(
    r"expected-(?P<severity>error|note|remark|warning)(?P<re>-re)? *"
    r"(?:@(?P<place>[+-][0-9]+|above|below|unknown))? *\{\{(?P<text>.*)\}\}$"
)
_EMBEDDED = re.compile(r"\{\{(.*?)\}\}")


@dataclass(frozen=True, slots=True)
class Expectation:
    """One comment.

    Attributes:
      severity: error, warning, note or remark.
      text: as written between the braces.
      pattern: finds a message that is meant.
      line: of the message; None for a message without a place.
      written_at: line and column of the comment.

    """

    severity: str
    text: str
    pattern: re.Pattern[str]
    line: int | None
    written_at: tuple[int, int]

    def fits(self, message: Diagnostic) -> bool:
        """Return whether the message is at the place and has the text, whatever its severity."""
        line = message.line if message.file is not None and message.line else None
        return line == self.line and self.pattern.search(message.message) is not None


def read_expectations(text: str) -> list[Expectation]:
    """Return the expectations in the comments of a file.

    Raises:
      DiagnosticError: at a comment with a regular expression that is none.

    """
    lines = text.split("\n")
    matches = [_COMMENT.search(line.rstrip()) if "expected-" in line else None for line in lines]
    is_plain = [match is None for match in matches]
    return [
        _expectation(match, number, is_plain)
        for number, match in enumerate(matches, 1)
        if match is not None
    ]


def _expectation(match: re.Match[str], number: int, is_plain: list[bool]) -> Expectation:
    text = match["text"]
    pattern = _with_embedded_patterns(text) if match["re"] else re.escape(text)
    line = _target_line(match["place"] or "+0", number, is_plain)
    place = (number, match.start() + 1)
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        message = f"not a regular expression: {error.msg} in '{text}'"
        raise DiagnosticError([Diagnostic("error", message, "-", *place)]) from None
    return Expectation(match["severity"], text, compiled, line, place)


def _with_embedded_patterns(text: str) -> str:
    """Return a pattern: what is in double braces as it is, the rest escaped."""
    literal_and_pattern = enumerate(_EMBEDDED.split(text))
    return "".join(f"({part})" if i % 2 else re.escape(part) for i, part in literal_and_pattern)


def _target_line(place: str, number: int, is_plain: list[bool]) -> int | None:
    """Return the line that a comment on line `number` means."""
    count = len(is_plain)
    match place:
        case "unknown":
            return None
        case "above":
            return next((n for n in range(number - 1, 0, -1) if is_plain[n - 1]), 0)
        case "below":
            return next((n for n in range(number + 1, count + 1) if is_plain[n - 1]), count)
    return number + int(place)


def compare(
    expectations: Iterable[Expectation], messages: Iterable[Diagnostic], *, allow_others: bool
) -> Iterator[Diagnostic]:
    """Yield an error for each message that was not expected and each comment that was not met."""
    expectations = list(expectations)
    met: set[int] = set()
    for message in messages:
        fitting = [i for i, e in enumerate(expectations) if e.fits(message)]
        same = [i for i in fitting if expectations[i].severity == message.severity]
        if same:
            met.add(same[0])
        elif fitting:
            yield _wrong_severity(expectations[fitting[-1]], message)
        elif not allow_others:
            text = f"unexpected {message.severity}: {message.message}"
            yield Diagnostic("error", text, message.file, message.line, message.column)
    for i, expectation in enumerate(expectations):
        if i not in met:
            text = f'expected {expectation.severity} "{expectation.text}" was not produced'
            yield Diagnostic("error", text, "-", *expectation.written_at)


def _wrong_severity(expectation: Expectation, message: Diagnostic) -> Diagnostic:
    text = (
        f"'{message.severity}' diagnostic emitted when expecting a '{expectation.severity}': "
        f"{message.message}"
    )
    return Diagnostic("error", text, "-", *expectation.written_at)
