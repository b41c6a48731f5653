"""Removes the collectives around dots that XLA's collective matmul puts there itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.ir.attributes import SHARDING
from sdy.ir.op_names import ALL_GATHER, FUNCTION, REDUCE_SCATTER
from sdy.ir.value_sharding import sharding_of
from sdy.passes.base import Pass
from sdy.passes.canonicalize.operations import has_one_use, producer, users

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["RemoveAllGatherReduceScatterForCmv1"]

_DOTS = frozenset({"stablehlo.dot", "stablehlo.dot_general"})


@dataclass(frozen=True, slots=True)
class RemoveAllGatherReduceScatterForCmv1(Pass):
    """Removes `sdy.all_gather` in front of dots, or `sdy.reduce_scatter` behind them.

    The first version of XLA's collective matmul (CMV1) overlaps the collective with the dot, and
    looks for dots whose shardings are in conflict. The collective must have the dot as its only
    user, or the dot the collective; where an operand is gathered, a scattered result stays.
    """

    name: ClassVar[str] = "sdy-remove-all-gather-reduce-scatter-for-cmv1"
    anchor: ClassVar[str] = FUNCTION

    def run(self, module: IndexedModule) -> None:
        """Remove the collectives in place."""
        if not {ALL_GATHER, REDUCE_SCATTER} & module.ops_by_name.keys():
            return
        removed: list[ir.Operation] = []
        for name, op in module.in_order:
            if name in _DOTS:
                removed += _gathers(op) or _scatter(op, module.codec)
        for op in removed:
            op.result.replace_all_uses_with(op.operands[0])
        module.replace_ops(dict.fromkeys(removed, ()))
        for op in removed:
            op.erase()


def _gathers(dot: ir.Operation) -> list[ir.Operation]:
    """Return the all-gathers of which just the dot uses the results."""
    found = (producer(value, ALL_GATHER) for value in dot.operands)
    return [op for op in found if op is not None and has_one_use(op.result)]


def _scatter(dot: ir.Operation, codec: AttributeCodec) -> list[ir.Operation]:
    """Return the reduce-scatter that alone uses the dot; give the dot its sharding."""
    if not has_one_use(dot.result):
        return []
    (user,) = users(dot.result)
    sharding = sharding_of(dot.result, codec)
    if user.name != REDUCE_SCATTER or (sharding is not None and sharding.unreduced):
        return []
    scattered = codec.sharding(user.attributes["out_sharding"])
    dot.attributes[SHARDING] = codec.list_attribute((scattered,))
    return [user]
