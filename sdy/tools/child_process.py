"""Work in a child process: whatever MLIR does to the child, the parent lives to say so."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

__all__ = [
    "limited_cpu_time",
    "limited_reading",
    "run_in_child",
    "signal_message",
    "status_of_work",
]

_STACK_SIZES = (1 << 30, 1 << 28, 1 << 26)

# Some fifty times what MLIR needs to read valid bytecode.
_SECONDS_FOR_ANY_BYTECODE = 2.0
_SECONDS_A_BYTE = 1e-6


def run_in_child(work: Callable[[], int]) -> int:
    """Return the exit status of `work`, done in a forked child on a thread with a big stack.

    A child that a signal kills gives the negative number of the signal.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            status = _on_big_stack(work)
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(_wait(child))


def status_of_work(work: Callable[[], int], fail: Callable[[str], int]) -> int:
    """Return the exit status of `work`, for what it raises that of `fail` with a message of it."""
    try:
        return work()
    except BrokenPipeError:
        return 1
    except MemoryError:
        return fail("not enough memory")
    except ImportError as error:
        # The last line: NumPy has a page of advice before it.
        return fail(f"cannot load a library: {str(error).strip().splitlines()[-1]}")
    except Exception as error:
        return fail(f"internal error: {type(error).__name__}: {error}")


def signal_message(number: int) -> str:
    """Return what is to be said of a child that a signal has killed."""
    if number == signal.SIGVTALRM:
        return "MLIR came to no end in reading this: the input is corrupt"
    cause = f"{signal.Signals(number).name} ({signal.strsignal(number)})"
    return f"MLIR was killed by {cause}: the input may be corrupt"


def _wait(child: int) -> int:
    """Return the wait status of the child; an interrupt ends it, too."""
    try:
        return os.waitpid(child, 0)[1]
    except KeyboardInterrupt:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise


def _on_big_stack(work: Callable[[], int]) -> int:
    """Return the result of `work`: MLIR recurses as deep as its input is nested."""
    status = [1]

    def run() -> None:
        status[0] = work()

    for size in _STACK_SIZES:
        threading.stack_size(size)
        thread = threading.Thread(target=run)
        try:
            thread.start()
        except RuntimeError:
            continue
        thread.join()
        return status[0]
    return work()


@contextmanager
def limited_cpu_time(seconds: float) -> Iterator[None]:
    """Let SIGVTALRM kill the process where the block computes for longer."""
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def limited_reading(byte_count: int) -> AbstractContextManager[None]:
    """Limit the time to read so much bytecode: corrupt one can send MLIR's reader round in circles.

    SIGVTALRM kills the process then.
    """
    return limited_cpu_time(_SECONDS_FOR_ANY_BYTECODE + byte_count * _SECONDS_A_BYTE)
