"""Standard streams that a shell closed (`>&-`), and what cannot be written to them."""

from __future__ import annotations

import os
import sys

__all__ = ["replace_closed_streams", "write_output"]

_NAMES = ("stdin", "stdout", "stderr")


def replace_closed_streams() -> frozenset[str]:
    """Put the null device in the place of closed standard streams; return their names in `sys`.

    A file that is opened later could else get the number of such a stream.
    """
    closed = [(number, name) for number, name in enumerate(_NAMES) if getattr(sys, name) is None]
    for number, name in closed:
        if not _is_open(number):
            _put_null_device(number)
        mode = "r" if name == "stdin" else "w"
        setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115
    return frozenset(name for _, name in closed)


def write_output(text: str = "") -> OSError | None:
    """Write to standard output, after all that waits there; return why that cannot be done."""
    try:
        print(text, end="", flush=True)
    except OSError as error:
        _put_null_device(sys.stdout.fileno())  # Nothing waits any longer, so that it ends well.
        return error
    return None


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _put_null_device(number: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    if null != number:
        os.dup2(null, number)
        os.close(null)
