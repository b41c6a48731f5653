"""Marks by which ops are known again after passes: a number in the location of each op.

Passes keep locations, and compare ops without them, so that a mark changes no answer. An op that
a pass creates has the mark of the op whose location it was given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["mark_of", "mark_ops", "unmark_ops", "unmarked"]


_MARK = "sdy.op"


def mark_ops(ops: Sequence[ir.Operation]) -> list[ir.Location]:
    """Give each op its place in `ops` as its mark; return where each was before."""
    if not ops:
        return []
    context = ops[0].context
    kind = ir.IntegerType.get_signless(64, context)
    before = [op.location for op in ops]
    for number, (op, location) in enumerate(zip(ops, before, strict=True)):
        metadata = ir.DictAttr.get({_MARK: ir.IntegerAttr.get(kind, number)}, context)
        op.location = ir.Location.fused([location], metadata=metadata, context=context)
    return before


def unmark_ops(ops: Iterable[ir.Operation]) -> None:
    """Take the marks off."""
    for op in ops:
        location = op.location
        bare = unmarked(location)
        if bare is not location:
            op.location = bare


def mark_of(location: ir.Location) -> int | None:
    """Return the number in a location; None where there is none."""
    if not isinstance(location, ir.FusedLoc):
        return None
    metadata = location.metadata
    entries = None if metadata is None else metadata.maybe_downcast()
    if not isinstance(entries, ir.DictAttr) or _MARK not in entries:
        return None
    return int(ir.IntegerAttr(entries[_MARK]).value)


def unmarked(location: ir.Location) -> ir.Location:
    """Return a location as it was before it was marked."""
    return location if mark_of(location) is None else location.locations[0]
