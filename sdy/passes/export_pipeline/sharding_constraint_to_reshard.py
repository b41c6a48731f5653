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
        structure, changes, ops = module.last_structure, module.changes, module.numbered_ops
        constraints = _numbers(module, CONSTRAINT)
        old_reshards = _numbers(module, RESHARD)
        converted = ops.copy()
        resharded: dict[ir.Value, ir.Value] = {}
        for number in constraints:
            constraint = ops[number]
            operand = constraint.operands[0]
            reshard = _reshard(constraint, resharded.get(operand, operand))
            resharded[constraint.result] = reshard.result
            converted[number] = reshard
        # Where there is no constraint, too, the order of uses becomes that of a conversion.
        values = {*structure.use_orders, *changes.replaced, *changes.replaced.values()}
        for number in (*constraints, *old_reshards):
            values.update(structure.operands[number])
        renew_uses(values, structure, converted, left_alone={*old_reshards, *changes.erased})
        for old, new in resharded.items():
            old.replace_all_uses_with(new)
        structure.use_orders.clear()
        if old_reshards:
            module.forget_structure()
        module.replace_ops({ops[number]: [converted[number]] for number in constraints})
        for number in reversed(constraints):
            ops[number].erase()


def _numbers(module: IndexedModule, name: str) -> list[int]:
    """Return the numbers of the ops of a name, in the order of the text."""
    names, erased = module.last_structure.names, module.changes.erased
    if name not in names:
        return []
    return [i for i, other in enumerate(names) if other == name and i not in erased]


def _reshard(constraint: ir.Operation, operand: ir.Value) -> ir.Operation:
    return ir.Operation.create(
        RESHARD,
        results=[constraint.result.type],
        operands=[operand],
        attributes=dict(constraint.attributes),
        loc=constraint.location,
        ip=ir.InsertionPoint(constraint),
    )
