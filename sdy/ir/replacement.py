"""An op in the place of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["create_for"]


def create_for(
    op: ir.Operation,
    name: str,
    attributes: Mapping[str, ir.Attribute],
    *,
    operands: Sequence[ir.Value] | None = None,
    regions: int = 0,
) -> ir.Operation:
    """Create an op right before `op`, with its result types, its location and its operands.

    The uses of `op` are left for the caller to move: in which order they come decides the answer.
    """
    return ir.Operation.create(
        name,
        results=[result.type for result in op.results],
        operands=list(op.operands) if operands is None else list(operands),
        attributes=dict(attributes),
        regions=regions,
        loc=op.location,
        ip=ir.InsertionPoint(op),
    )
