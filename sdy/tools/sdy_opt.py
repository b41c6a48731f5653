"""`sdy-opt`: mlir-opt for StableHLO programs with shardings."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from sdy.dialect.errors import Error
from sdy.tools.child_process import run_in_child, signal_message, status_of_work
from sdy.tools.flags import parse_arguments
from sdy.tools.output_file import check_destination, interim_name, move_to_destination
from sdy.tools.standard_streams import replace_closed_streams, write_output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.tools.flags import Options

__all__ = ["main"]

_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (default: the process's); return its exit status.

    The work is done in a child process, because input can make MLIR crash. Files are written
    under other names first and get theirs when all went well.
    """
    closed = replace_closed_streams()
    try:
        options = parse_arguments(list(sys.argv[1:] if argv is None else argv))
        _check_streams(options, closed)
        if options.asks_about_command:
            return _print(_answer(options))
        check_destination(options.o)
        check_destination(options.pass_pipeline_crash_reproducer or "-")
    except Error as error:
        return _fail(str(error))
    try:
        return _run(options)
    except KeyboardInterrupt:
        return _INTERRUPTED


def _answer(options: Options) -> str:
    """Return what was asked about the command itself."""
    from sdy.tools.help_text import help_text, pass_list, version_text

    if options.help:
        return help_text()
    return version_text() if options.version else pass_list()


def _print(text: str) -> int:
    error = write_output(text)
    if error is None:
        return 0
    if isinstance(error, BrokenPipeError):
        return 1
    return _fail(f"cannot write to standard output: {error.strerror}")


def _check_streams(options: Options, closed: frozenset[str]) -> None:
    if "stdout" in closed and (options.asks_about_command or options.o == "-"):
        raise Error("cannot write to standard output: it is closed")
    if "stdin" in closed and not options.asks_about_command and options.input == "-":
        raise Error("cannot read standard input: it is closed")


def _run(options: Options) -> int:
    output = interim_name(options.o)
    reproducer = options.pass_pipeline_crash_reproducer
    interim_reproducer = reproducer and interim_name(reproducer)

    def optimize() -> int:
        from sdy.tools.opt_session import Session

        return Session(options, output, interim_reproducer).run()

    try:
        status = run_in_child(lambda: status_of_work(optimize, _fail))
        if status < 0:
            status = _report_signal(options.input, -status)
        if status == 0:
            move_to_destination(output, options.o)
        if reproducer and interim_reproducer and os.path.exists(interim_reproducer):
            move_to_destination(interim_reproducer, reproducer)
    except OSError as error:
        status = _fail(f"cannot write '{error.filename}': {error.strerror}")
    finally:
        if output != options.o and os.path.exists(output):
            os.unlink(output)
    return status


def _report_signal(source: str, number: int) -> int:
    name = "<stdin>" if source == "-" else source
    print(f"{name}: error: {signal_message(number)}", file=sys.stderr)
    return 1


def _fail(message: str) -> int:
    print(f"sdy-opt: error: {message}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
