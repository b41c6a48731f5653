"""What an exception out of a pass means: a fault of the pass, or input that Python cannot read."""

from __future__ import annotations

import os
import traceback
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.errors import Error
from sdy.ir.diagnostics import Diagnostic, DiagnosticError, op_error
from sdy.ir.symbols import NotTextError

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["PassBugError", "error_of_pass"]

# What passes call the op that they work on; of two in one function the last.
_OP_VARIABLES = ("function", "call", "op")

# How the bindings say that an attribute is of another kind than one that they were asked for.
_OTHER_KIND = "Cannot cast attribute to "


class PassBugError(DiagnosticError):
    """A pass failed in a way that no input should cause."""


def error_of_pass(name: str, module: ir.Module, error: Exception) -> Error:
    """Return the error for an exception that came out of the pass of that name.

    It stands at the op that the pass worked on, where that is known. A PassBugError says where in
    the code of the pass the exception arose. A text of the module that is not UTF-8, which MLIR
    allows and Python's texts cannot be, is a fault of the input; so is an attribute of another
    kind than its name says, as MLIR verifies no attribute that is not the op's own.
    """
    op = _op_at_hand(error.__traceback__, module)
    if _is_of_text(error):
        message = str(error)
        if not isinstance(error, NotTextError):
            what = "the module" if op is None else f"op '{op.name}'"
            message = f"pass '{name}': {what} has a name or a text that is not UTF-8"
        return Error(message) if op is None else op_error(op, message)
    if isinstance(error, ValueError) and str(error).startswith(_OTHER_KIND):
        message = f"pass '{name}': an attribute is of the wrong kind: {error}"
        return Error(message) if op is None else op_error(op, message)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    code = f"{os.path.basename(frame.filename)}:{frame.lineno} in {frame.name}"
    what = f"{type(error).__name__}: {error}".rstrip(": ")
    if op is None:
        return PassBugError([Diagnostic("error", f"bug in pass '{name}': {what} ({code})")])
    message = f"bug in pass '{name}' at op '{op.name}': {what} ({code})"
    return PassBugError(op_error(op, message).diagnostics)


def _is_of_text(error: Exception) -> bool:
    """Return whether bytes that are not UTF-8 could not be made a str, by us or the bindings."""
    message = str(error)
    is_of_bindings = isinstance(error, RuntimeError) and (
        message.startswith("nanobind::") and "conversion error" in message
    )
    return is_of_bindings or isinstance(error, NotTextError | UnicodeDecodeError)


def _op_at_hand(trace: TracebackType | None, module: ir.Module) -> ir.Operation | None:
    """Return the op that the innermost function with a variable for one worked on.

    The op may have been erased, and then must not be touched: it is looked for in the module.
    """
    ops = []
    while trace is not None:
        for name in _OP_VARIABLES:
            candidate = trace.tb_frame.f_locals.get(name)
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
    return found[0] if found else None
