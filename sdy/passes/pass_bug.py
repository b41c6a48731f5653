"""The error for a fault of a pass itself: which pass, at which op, and where in its code."""

from __future__ import annotations

import os
import traceback
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.errors import Error
from sdy.ir.diagnostics import file_location

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["PassBugError"]


class PassBugError(Error):
    """A pass failed in a way that no input should cause."""

    @staticmethod
    def from_exception(name: str, module: ir.Module, error: Exception) -> PassBugError:
        """Return the error for an exception that came out of the pass of that name."""
        op = _op_at_hand(error.__traceback__, module)
        frame = traceback.extract_tb(error.__traceback__)[-1]
        code = f"{os.path.basename(frame.filename)}:{frame.lineno} in {frame.name}"
        what = f"{type(error).__name__}: {error}".rstrip(": ")
        at = f" at op {op}" if op else ""
        return PassBugError(f"bug in pass '{name}'{at}: {what} ({code})")


def _op_at_hand(trace: TracebackType | None, module: ir.Module) -> str:
    """Return name and place of the op that the innermost function with an `op` worked on.

    The op may have been erased, and then must not be touched: it is looked for in the module.
    """
    ops = []
    while trace is not None:
        candidate = trace.tb_frame.f_locals.get("op")
        if isinstance(candidate, ir.OpView):
            candidate = candidate.operation
        if isinstance(candidate, ir.Operation):
            ops.append(candidate)
        trace = trace.tb_next
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op == ops[-1]:
            found.append(op)
            return ir.WalkResult.INTERRUPT
        return ir.WalkResult.ADVANCE

    if ops:
        module.operation.walk(visit)
    return _describe(found[0]) if found else ""


def _describe(op: ir.Operation) -> str:
    place = file_location(op.location)
    return f"'{op.name}'" + ("" if place is None else " ({}:{}:{})".format(*place))
