"""Turns sharding constraints into reshards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.ir.dialect_conversion import renew_uses
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
        structure, changes, ops = module.last_structure, module.changes, module.late_ops
        constraints, old_reshards = module.numbers(CONSTRAINT), module.numbers(RESHARD)
        module.write_attributes(constraints)
        ops, converted = ops.copy(), ops.copy()
        resharded: dict[ir.Value, ir.Value] = {}
        for number in constraints:
            constraint = ops[number]
            operand = constraint.operands[0]
            reshard = _reshard(constraint, resharded.get(operand, operand))
            resharded[constraint.result] = reshard.result
            converted[number] = reshard
        # Where there is no constraint, too, the order of uses becomes that of a conversion.
        kept, users = {*changes.replaced.values()}, structure.users
        values = {
            value
            for value in (*structure.use_orders, *changes.reordered)
            if value in kept or users.length(value) > 1
        }
        for number in (*constraints, *old_reshards):
            for value in structure.operands[number]:
                values.add(changes.replaced.get(value, value))
        values.update([old for old, new in changes.replaced.items() if new in values])
        renew_uses(values, structure, converted, left_alone={*old_reshards, *changes.erased})
        for old, new in resharded.items():
            old.replace_all_uses_with(new)
        structure.use_orders.clear()
        changes.reordered.clear()
        for number in constraints:
            changes.reordered.update(structure.results[number])
        for number in old_reshards:
            operands = structure.operands[number]
            changes.reordered.update([changes.replaced.get(value, value) for value in operands])
        module.replace_numbered({number: (RESHARD, converted[number]) for number in constraints})
        for number in reversed(constraints):
            ops[number].erase()


def _reshard(constraint: ir.Operation, operand: ir.Value) -> ir.Operation:
    return ir.Operation.create(
        RESHARD,
        results=[constraint.result.type],
        operands=[operand],
        attributes=dict(constraint.attributes),
        loc=constraint.location,
        ip=ir.InsertionPoint(constraint),
    )
