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
        # They are those of propagation, where no op had one that a user wrote.
        module.drop_late_rules()
        module.transform_attributes(SHARDING_RULE, _if_custom)


def _if_custom(rule: ir.Attribute) -> ir.Attribute | None:
    is_rule = mlir_sdy.OpShardingRuleAttr.isinstance(rule)
    return None if is_rule and not mlir_sdy.OpShardingRuleAttr(rule).is_custom else rule
