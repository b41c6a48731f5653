"""Turns sharding constraints into reshards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.ir.dialect_conversion import renew_operands
from sdy.ir.op_names import CONSTRAINT, FUNCTION, RESHARD
from sdy.passes.base import Pass

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["ShardingConstraintToReshard"]


@dataclass(frozen=True, slots=True)
class ShardingConstraintToReshard(Pass):
    """Converts every `sdy.sharding_constraint` into an `sdy.reshard`.

    A constraint is a wish before propagation; after it, a place where a tensor changes its
    sharding.
    """

    name: ClassVar[str] = "sdy-sharding-constraint-to-reshard"
    anchor: ClassVar[str] = FUNCTION

    def run(self, module: IndexedModule) -> None:
        """Convert the constraints in place."""
        reshards: dict[int, ir.Operation] = {}
        resharded: dict[ir.Value, ir.Value] = {}
        constraints: list[ir.Operation] = []
        # Where there is no constraint, too, the order of uses becomes that of a conversion.
        for position, (name, op) in enumerate(module.in_order):
            if name == RESHARD:
                continue
            operands = renew_operands(op)
            if name == CONSTRAINT:
                reshard = _reshard(op, resharded.get(operands[0], operands[0]))
                reshards[position] = reshard
                resharded[op.result] = reshard.result
                constraints.append(op)
        for old, new in resharded.items():
            old.replace_all_uses_with(new)
        module.replace_at({position: [(RESHARD, new)] for position, new in reshards.items()})
        for op in reversed(constraints):
            op.erase()


def _reshard(constraint: ir.Operation, operand: ir.Value) -> ir.Operation:
    return ir.Operation.create(
        RESHARD,
        results=[constraint.result.type],
        operands=[operand],
        attributes=dict(constraint.attributes),
        loc=constraint.location,
        ip=ir.InsertionPoint(constraint),
    )
