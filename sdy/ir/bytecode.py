"""Modules as MLIR bytecode."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxlib.mlir import ir

__all__ = ["to_bytecode"]


def to_bytecode(module: ir.Module) -> bytes:
    """Return the bytecode of a module, with its locations."""
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()
