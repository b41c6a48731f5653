"""The order of the uses of every value in a module, as plain numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from jaxlib.mlir import ir

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["UseLists", "use_lists"]

UseLists: TypeAlias = "list[list[list[int]]]"


def use_lists(module: ir.Module) -> UseLists:
    """Return for every value its uses as `[position of the user, operand number]`.

    Values and users are counted in the order of the text: an op's results, then the arguments
    of its blocks. Uses come in MLIR's own order, newest first.
    """
    ops: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        ops.append(op)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    positions = {op: position for position, op in enumerate(ops)}
    return [
        [[positions[use.owner.operation], use.operand_number] for use in value.uses]
        for op in ops
        for value in _values(op)
    ]


def _values(op: ir.Operation) -> Iterator[ir.Value]:
    yield from op.results
    for region in op.regions:
        for block in region.blocks:
            yield from block.arguments
