"""Expected-error comments: what they mean and when they come true."""

from __future__ import annotations

import pytest

from sdy.ir.diagnostics import Diagnostic, DiagnosticError
from sdy.tools.expected_diagnostics import compare, read_expectations


def error(line: int, message: str = "bad axis") -> Diagnostic:
    return Diagnostic("error", message, "-", line, 1)


def faults(text: str, *messages: Diagnostic, allow_others: bool = False) -> list[str]:
    found = compare(read_expectations(text), messages, allow_others=allow_others)
    return [fault.message for fault in found]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("op // expected-error {{bad}}", 1),
        ("// expected-error@+1 {{bad}}\nop", 2),
        ("// expected-error @+2 {{bad}}\n\nop", 3),
        ("op\n// expected-error@-1 {{bad}}", 1),
        ("op\n// expected-error@above {{bad}}", 1),
        ("// expected-error@below {{bad}}\nop", 2),
        ("// expected-error@below {{bad}}\n// expected-note@+1 {{axis}}\nop", 3),
        ("op\n// expected-note@+9 {{axis}}\n// expected-error@above {{bad}}", 1),
    ],
)
def test_places(text: str, line: int) -> None:
    assert [e.line for e in read_expectations(text) if e.severity == "error"] == [line]


def test_a_message_elsewhere_is_not_the_one_expected() -> None:
    assert faults("op // expected-error {{bad}}", error(2)) == [
        "unexpected error: bad axis",
        'expected error "bad" was not produced',
    ]


def test_a_message_without_a_place_is_unknown() -> None:
    message = Diagnostic("error", "bad axis")
    assert faults("// expected-error@unknown {{bad axis}}", message) == []
    assert faults("// expected-error {{bad axis}}", message) != []


def test_one_comment_stands_for_all_messages_that_it_fits() -> None:
    assert faults("op // expected-error {{bad}}", error(1), error(1, "bad mesh")) == []


def test_text_is_found_as_it_is_written_and_patterns_only_in_braces() -> None:
    assert faults("op // expected-error {{[{i=1}] (x)}}", error(1, "got [{i=1}] (x) here")) == []
    assert faults("op // expected-error {{b.d}}", error(1, "bad")) != []
    assert faults("op // expected-error-re {{b.d {{[0-9]+}}}}", error(1, "b.d 42")) == []
    assert faults("op // expected-error-re {{b.d {{[0-9]+}}}}", error(1, "bad 42")) != []


def test_faults_say_what_differs() -> None:
    text = "op // expected-error {{bad}}"
    assert faults(text) == ['expected error "bad" was not produced']
    assert faults("op", error(1)) == ["unexpected error: bad axis"]
    warning = Diagnostic("warning", "bad axis", "-", 1, 1)
    assert faults(text, warning) == [
        "'warning' diagnostic emitted when expecting a 'error': bad axis",
        'expected error "bad" was not produced',
    ]


def test_others_may_be_allowed() -> None:
    assert faults("op", error(1), allow_others=True) == []
    text = "op // expected-error {{other}}"
    assert faults(text, error(1), allow_others=True) == ['expected error "other" was not produced']


def test_what_is_no_regular_expression_is_an_error_at_its_comment() -> None:
    with pytest.raises(DiagnosticError, match="not a regular expression: missing"):
        read_expectations("op\n// expected-error-re@+1 {{ {{(}} }}")
