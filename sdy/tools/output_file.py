"""Where a command writes to: a file is written under another name first, and is whole or not there.

What is no regular file, such as a device or a pipe, is written itself, and stays what it is.
"""

from __future__ import annotations

import os

from sdy.dialect.errors import Error

__all__ = ["check_destination", "interim_name", "move_to_destination"]


def check_destination(path: str) -> None:
    """Raise an error where a file cannot be put there, before any work is done."""
    if path == "-":
        return
    if os.path.isdir(path):
        raise Error(f"cannot write '{path}': it is a directory")
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise Error(f"cannot write '{path}': there is no directory '{folder}'")
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise Error(f"cannot write '{path}': permission denied")


def interim_name(path: str) -> str:
    """Return the name under which an output is written; its own where it is no regular file."""
    if path == "-" or (os.path.exists(path) and not os.path.isfile(path)):
        return path
    return f"{os.path.realpath(path)}.{os.getpid()}.tmp"


def move_to_destination(interim: str, path: str) -> None:
    """Give a file that was written its own name; a link to it stays a link. OSError on failure."""
    if interim != path:
        os.replace(interim, os.path.realpath(path))
