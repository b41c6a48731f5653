"""Drops the sharding rules that propagation left on ops."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
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
        is_custom = cache(_is_custom)
        rules = module.attributes_of_ops(SHARDING_RULE)
        dropped = [(number, op, None) for number, op, rule in rules if not is_custom(rule)]
        module.set_attributes(SHARDING_RULE, dropped)


def _is_custom(rule: ir.Attribute) -> bool:
    is_rule = mlir_sdy.OpShardingRuleAttr.isinstance(rule)
    return not is_rule or mlir_sdy.OpShardingRuleAttr(rule).is_custom
