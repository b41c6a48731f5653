"""What sdy-explain does with one command line: reads, explains, writes.

This part knows MLIR; it runs in the child process.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from sdy.dialect.errors import Error
from sdy.explain.cost_text import suggestion_lines
from sdy.explain.explanation import Explanation
from sdy.explain.overview import overview
from sdy.explain.printable import printable
from sdy.explain.topologies import topology
from sdy.explain.traced import trace
from sdy.ir.context import make_context
from sdy.ir.diagnostics import Diagnostic, DiagnosticError, Source, collect_warnings, render
from sdy.ir.load import is_bytecode, parse_bytes, read_bytes
from sdy.tools.child_process import limited_reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import Progress

    from sdy.explain.topologies import Topology
    from sdy.tools.explain_flags import Options

__all__ = ["run"]

# What the child's big stack holds, with room to spare.
_MAX_NESTING = 5000

_STANDARD_INPUT = "<stdin>"


def run(options: Options, output: str) -> int:
    """Do the work, say on standard error what is wrong, and return the exit status.

    Args:
      options: the command line.
      output: where to write to instead of the file that it names; `-` is standard output.

    """
    phases = _Phases()
    try:
        with phases.shown():
            machine = None if options.topology is None else topology(options.topology)
            explanations = [_explain(path, machine, phases) for path in options.inputs]
            with phases.phase("Answering"):
                text = _answer(options, explanations)
    except DiagnosticError as error:
        return _fail(str(error))
    except Error as error:
        return _fail(f"sdy-explain: error: {error}")
    return _print(text) if output == "-" else _write(text, output, options.output)


def _explain(path: str, machine: Topology | None, phases: _Phases) -> Explanation:
    name = _STANDARD_INPUT if path == "-" else path
    with phases.phase(f"Reading {name}"):
        data = sys.stdin.buffer.read() if path == "-" else read_bytes(path)
        text = None if is_bytecode(data) else data.decode("utf-8", "replace")
        source = Source(name, text)
        with limited_reading(len(data)) if text is None else nullcontext():
            module = parse_bytes(
                data, name, make_context(), is_file=path != "-", max_nesting=_MAX_NESTING
            )
    warnings: list[Diagnostic] = []
    with phases.phase(f"Propagating {name}"), collect_warnings(warnings.append):
        try:
            explanation = Explanation(trace(module), machine)
        except DiagnosticError as error:
            raise DiagnosticError(error.diagnostics, source) from None
    for warning in warnings:
        _say(render(warning, source))
    return explanation


def _answer(options: Options, explanations: list[Explanation]) -> str:
    """Return what is to be written, without the last line break."""
    first = explanations[0]
    if options.is_diff:
        return first.diff(explanations[1]).text(options.top)
    if options.format != "text":
        return _document(options, first)
    parts = [str(first.why(asked.value, asked.dim, asked.axis)) for asked in options.why]
    parts += [first.placement(name) for name in options.placement]
    if options.suggest:
        parts.append("\n".join(map(printable, suggestion_lines(first, options.top))))
    return "\n\n".join(parts) if parts else "\n".join(overview(first, options.top))


def _document(options: Options, explanation: Explanation) -> str:
    for warning in explanation.warnings:
        _say(render(warning))
    form = explanation.to_html if options.format == "html" else explanation.to_json
    return form(suggestions=options.top if options.suggest else 0)


class _Phases:
    """Shows on standard error what is being done, where that is a terminal."""

    def __init__(self) -> None:
        self._progress: Progress | None = None

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the phases of the block, and nothing of them after it."""
        if not sys.stderr.isatty():
            yield
            return
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        description = TextColumn("{task.description}", markup=False)
        columns = (SpinnerColumn(), description, TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as self._progress:
            yield

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Show that the block is being done."""
        if self._progress is None:
            yield
            return
        task = self._progress.add_task(printable(name), total=None)
        yield
        self._progress.remove_task(task)


# Output.


def _write(text: str, path: str, name: str) -> int:
    """Write to a file, which messages call by `name`."""
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text + "\n")
    except OSError as error:
        return _fail(f"sdy-explain: error: cannot write '{name}': {error.strerror}")
    return 0


def _print(text: str) -> int:
    """Write to standard output: headings in bold where that is a terminal."""
    try:
        if sys.stdout.isatty():
            from rich.console import Console
            from rich.text import Text

            console = Console(highlight=False, soft_wrap=True)
            for line in text.split("\n"):
                console.print(Text(line, style="" if line.startswith(" ") else "bold"))
        else:
            sys.stdout.buffer.write((text + "\n").encode("utf-8", "backslashreplace"))
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        return _fail(f"sdy-explain: error: cannot write to standard output: {error.strerror}")
    return 0


def _fail(message: str) -> int:
    _say(message)
    return 1


def _say(message: str) -> None:
    """Write a message to standard error; what is no plain text in it is escaped."""
    lines = "\n".join(map(printable, message.split("\n")))
    sys.stderr.buffer.write((lines + "\n").encode("utf-8", "backslashreplace"))
    sys.stderr.buffer.flush()
