"""`sdy-explain`: why a program is sharded as it is."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from sdy.dialect.errors import Error
from sdy.tools.child_process import run_in_child, signal_message, status_of_work
from sdy.tools.explain_flags import parse_arguments
from sdy.tools.output_file import check_destination, interim_name, move_to_destination
from sdy.tools.standard_streams import replace_closed_streams, write_output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.tools.explain_flags import Options

__all__ = ["main"]

_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (default: the process's); return its exit status.

    The work is done in a child process, because input can make MLIR crash.
    """
    closed = replace_closed_streams()
    try:
        options = parse_arguments(list(sys.argv[1:] if argv is None else argv))
        if "stdout" in closed and options.output == "-":
            raise Error("cannot write to standard output: it is closed")
        if "stdin" in closed and "-" in options.inputs:
            raise Error("cannot read standard input: it is closed")
        check_destination(options.output)
    except Error as error:
        return _fail(str(error))
    except SystemExit:  # After --help and --version.
        failure = write_output()
        return _fail(f"cannot write to standard output: {failure.strerror}") if failure else 0
    try:
        return _run(options)
    except KeyboardInterrupt:
        return _INTERRUPTED


def _run(options: Options) -> int:
    output = interim_name(options.output)
    try:
        status = run_in_child(lambda: status_of_work(lambda: _explain(options, output), _fail))
        if status < 0:
            status = _fail(signal_message(-status))
        if status == 0:
            move_to_destination(output, options.output)
    except OSError as error:
        status = _fail(f"cannot write '{options.output}': {error.strerror}")
    finally:
        if output != options.output and os.path.exists(output):
            os.unlink(output)
    return status


def _explain(options: Options, output: str) -> int:
    from sdy.tools.explain_session import run

    return run(options, output)


def _fail(message: str) -> int:
    print(f"sdy-explain: error: {message}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
