"""Ops without effects whose result nothing uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jaxlib.mlir import ir

__all__ = ["erase_unused"]


def erase_unused(ops: Sequence[ir.Operation]) -> bool:
    """Erase those ops whose only result nothing uses, the last first; return whether any was."""
    has_changed = False
    for op in reversed(ops):
        if next(iter(op.results[0].uses), None) is None:
            op.erase()
            has_changed = True
    return has_changed
