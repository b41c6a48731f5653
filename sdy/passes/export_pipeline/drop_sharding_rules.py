"""Drops the sharding rules that propagation left on ops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir.dialects import sdy as mlir_sdy

from sdy.ir.attributes import SHARDING_RULE
from sdy.ir.op_names import FUNCTION
from sdy.passes.base import Pass

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.ir.indexed_module import IndexedModule

__all__ = ["DropShardingRules"]


@dataclass(frozen=True, slots=True)
class DropShardingRules(Pass):
    """Removes `sdy.sharding_rule` from every op, except rules that a user wrote."""

    name: ClassVar[str] = "sdy-drop-sharding-rules"
    anchor: ClassVar[str] = FUNCTION

    def run(self, module: IndexedModule) -> None:
        """Drop the rules in place."""
        is_custom: dict[ir.Attribute, bool] = {}
        for _, op in module.in_order:
            attributes = op.attributes
            if SHARDING_RULE not in attributes:
                continue
            rule = attributes[SHARDING_RULE]
            if rule not in is_custom:
                is_custom[rule] = _is_custom(rule)
            if not is_custom[rule]:
                del attributes[SHARDING_RULE]


def _is_custom(rule: ir.Attribute) -> bool:
    is_rule = mlir_sdy.OpShardingRuleAttr.isinstance(rule)
    return not is_rule or mlir_sdy.OpShardingRuleAttr(rule).is_custom
