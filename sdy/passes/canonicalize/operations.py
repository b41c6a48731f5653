"""What patterns ask about ops and values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["after", "has_one_use", "is_unused", "producer", "users"]


def producer(value: ir.Value, name: str) -> ir.Operation | None:
    """Return the op of that name whose result `value` is; None where there is none."""
    if not isinstance(value, ir.OpResult):
        return None
    op: ir.Operation = value.owner.operation
    return op if op.name == name else None


def users(value: ir.Value) -> Iterator[ir.Operation]:
    """Yield the user of each use of a value, in MLIR's order of uses."""
    for use in value.uses:
        yield use.owner.operation


def is_unused(value: ir.Value) -> bool:
    """Return whether nothing uses a value."""
    return next(iter(value.uses), None) is None


def has_one_use(value: ir.Value) -> bool:
    """Return whether a value is used exactly once."""
    uses = iter(value.uses)
    return next(uses, None) is not None and next(uses, None) is None


def after(value: ir.Value) -> ir.InsertionPoint:
    """Return the first place at which a value can be used."""
    if isinstance(value, ir.BlockArgument):
        return ir.InsertionPoint.at_block_begin(value.owner)
    return ir.InsertionPoint.after(value.owner)
