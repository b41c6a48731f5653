"""The ops and values of a module, by their numbers in its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.explain.program import functions_of
from sdy.ir.data_flow import DATA_FLOW_OPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jaxlib.mlir import ir

    from sdy.explain.program import Program

__all__ = ["numbered_ops", "numbered_values"]


def numbered_ops(module: ir.Module, program: Program) -> dict[ir.Operation, int]:
    """Return the numbers of the ops of a module of which `program` is the tables."""
    found: dict[ir.Operation, int] = {}
    for function, known in zip(functions_of(module), program.functions, strict=True):
        found.update(zip(_ops_of(function), known.ops, strict=True))
    return found


def numbered_values(module: ir.Module, program: Program) -> dict[ir.Value, int]:
    """Return the numbers of the values of a module of which `program` is the tables."""
    found: dict[ir.Value, int] = {}
    for function, known in zip(functions_of(module), program.functions, strict=True):
        for block in function.regions[0].blocks:
            found.update(zip(block.arguments, known.arguments, strict=True))
        for op, number in zip(_ops_of(function), known.ops, strict=True):
            found.update(zip(op.results, program.ops[number].results, strict=True))
            if op.name in DATA_FLOW_OPS:
                inside = (a for region in op.regions for b in region.blocks for a in b.arguments)
                found.update(zip(inside, program.ops[number].arguments, strict=True))
    return found


def _ops_of(op: ir.Operation) -> Iterator[ir.Operation]:
    """Yield the ops in the regions of an op that the tables have, in their order."""
    for region in op.regions:
        for block in region.blocks:
            for view in block.operations:
                yield view.operation
                if view.operation.name in DATA_FLOW_OPS:
                    yield from _ops_of(view.operation)
