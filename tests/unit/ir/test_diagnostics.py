"""Located messages: from MLIR and from passes, and how they are shown."""

from __future__ import annotations

import pytest
from jaxlib.mlir import ir

from sdy.ir.context import make_context
from sdy.ir.diagnostics import (
    Diagnostic,
    DiagnosticError,
    ShardingWarning,
    Source,
    collect_warnings,
    errors_as_exceptions,
    file_location,
    op_error,
    render,
    verify,
    warn,
)
from sdy.ir.load import load


def test_render_shows_the_line_and_a_caret() -> None:
    source = Source("in.mlir", "first\n\tsecond line\n")
    shown = render(Diagnostic("error", "is wrong", "in.mlir", 2, 9), source)
    assert shown == "in.mlir:2:9: error: is wrong\n        second line\n               ^"


def test_render_cuts_long_lines_around_the_column() -> None:
    source = Source("in.mlir", "a" * 5000 + "b" * 5000)
    _, line, caret = render(Diagnostic("error", "wrong", "-", 1, 5001), source).splitlines()
    assert len(line) <= 400
    assert line[caret.index("^")] == "b"
    assert line[caret.index("^") - 1] == "a"


@pytest.mark.parametrize(
    ("diagnostic", "shown"),
    [
        (Diagnostic("error", "wrong"), "in.mlir: error: wrong"),
        (Diagnostic("warning", "odd", "other.py", 3, 4), "other.py:3:4: warning: odd"),
        (Diagnostic("note", "see", "-", 9, 1), "in.mlir:9:1: note: see"),
    ],
)
def test_render_without_a_line_to_show(diagnostic: Diagnostic, shown: str) -> None:
    assert render(diagnostic, Source("in.mlir", "one line")) == shown


def test_notes_follow() -> None:
    note = Diagnostic("note", "see here", "a", 1, 2)
    assert render(Diagnostic("error", "wrong", "b", 3, 4, (note,))) == (
        "b:3:4: error: wrong\na:1:2: note: see here"
    )


@pytest.mark.parametrize(
    ("location", "place"),
    [
        ('loc("a.mlir":3:4)', ("a.mlir", 3, 4)),
        ('loc("op"("a.py":3:4))', ("a.py", 3, 4)),
        ('loc(callsite("f"("a.py":3:4) at "b.py":5:6))', ("a.py", 3, 4)),
        ('loc(fused["op", "a.py":3:4])', ("a.py", 3, 4)),
        ("loc(unknown)", None),
        ('loc("op")', None),
        (r'loc("\FF":1:2)', (r"\FF", 1, 2)),
    ],
)
def test_the_file_that_a_location_names_first(
    location: str, place: tuple[str, int, int] | None
) -> None:
    module = ir.Module.parse(f"module {{}} {location}", make_context())
    assert file_location(module.operation.location) == place


def test_errors_and_warnings_of_passes_are_at_their_op() -> None:
    module = load("func.func @f() {\n  return\n}")
    op = module.body.operations[0].operation.regions[0].blocks[0].operations[0]
    assert str(op_error(op, "cannot")) == "<text>:2:3: error: cannot"
    with pytest.warns(ShardingWarning, match="<text>:2:3: warning: beware"):
        warn(op, "beware")
    collected: list[Diagnostic] = []
    with collect_warnings(collected.append):
        warn(op, "beware")
    assert collected == [Diagnostic("warning", "beware", "-", 2, 3)]


def test_what_mlir_says_is_raised_without_the_op_that_it_prints() -> None:
    module = load("func.func @f() { return }\nfunc.func @g() { return }")
    with module.context:
        name = ir.StringAttr.get("f")
        module.body.operations[1].operation.attributes["sym_name"] = name
    with pytest.raises(DiagnosticError) as caught:
        verify(module)
    assert str(caught.value) == (
        "<text>:2:1: error: redefinition of symbol named 'f'\n"
        "<text>:1:1: note: see existing symbol definition here"
    )


def test_a_message_that_is_not_utf8_does_not_hide_the_error() -> None:
    context = make_context()
    text = r'func.func @"\FF"() { return } func.func @"\FF"() { return }'
    with pytest.raises(DiagnosticError, match="1:31: error"), errors_as_exceptions(context):
        ir.Module.parse(text, context)


def test_the_context_is_left_as_it_was() -> None:
    context = make_context()
    with pytest.raises(DiagnosticError), errors_as_exceptions(context):
        ir.Module.parse("no module", context)
    assert not context.emit_error_diagnostics
    with pytest.raises(ir.MLIRError):
        ir.Module.parse("no module", context)
