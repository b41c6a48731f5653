"""The sharding rules of all ops, by name."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from jaxlib.mlir import ir

from sdy.ir.data_flow import DATA_FLOW_EDGE, MANUAL_COMPUTATION, NAMED_COMPUTATION
from sdy.ir.op_names import (
    BARRIER,
    CALL,
    FUNC_EDGE,
    FUNCTION,
    GROUP,
    MESH,
    MODULE,
    RESHARD,
    SDY_CONSTANT,
)
from sdy.ir.op_traits import is_terminator
from sdy.passes.propagation.rules import (  # noqa: F401 - each import registers a family
    collectives,
    contraction,
    convolution,
    elementwise,
    gather_scatter,
    layout,
    linear_algebra,
    normalization,
    random,
    reduction,
    reshape,
    slicing,
    sorting,
    window,
)
from sdy.passes.propagation.rules.custom_calls import is_known_target
from sdy.passes.propagation.rules.registration import RuleEntry, registered_rules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sdy.dialect.sharding_rule import OpShardingRule

__all__ = ["RULES", "rule_for", "unknown_op_warning"]

RULES: Final[Mapping[str, RuleEntry]] = MappingProxyType(dict(registered_rules()))
"""An op whose name is not here has no rule."""

_KNOWN_WITHOUT_RULE: Final = frozenset(
    {
        MODULE,
        CALL,
        FUNCTION,
        SDY_CONSTANT,
        DATA_FLOW_EDGE,
        FUNC_EDGE,
        MANUAL_COMPUTATION,
        MESH,
        NAMED_COMPUTATION,
        BARRIER,
        RESHARD,
        GROUP,
        "stablehlo.after_all",
        "stablehlo.case",
        "stablehlo.constant",
        "stablehlo.create_token",
        "stablehlo.get_tuple_element",
        "stablehlo.infeed",
        "stablehlo.iota",
        "stablehlo.optimization_barrier",
        "stablehlo.outfeed",
        "stablehlo.partition_id",
        "stablehlo.recv",
        "stablehlo.send",
        "stablehlo.while",
    }
)
"""Ops through which shardings spread in another way, or not at all."""


def rule_for(op: ir.Operation, conservative: bool = False) -> OpShardingRule | None:
    """Return the rule of an op, or None where it has none; not the rule that a user gave it."""
    entry = RULES.get(op.name)
    return entry.build(op, conservative) if entry else None


def unknown_op_warning(op: ir.Operation) -> str | None:
    """Return the text of the warning that nothing is known of an op; None where something is."""
    if op.name == "stablehlo.custom_call":
        target = ir.StringAttr(op.attributes["call_target_name"]).value
        if not is_known_target(target):
            return f"custom call @{target} is unknown to SDY sharding rule registry"
    elif op.name not in RULES and op.name not in _KNOWN_WITHOUT_RULE and not is_terminator(op.name):
        return f"op '{op.name}' is unknown to SDY sharding rule registry"
    return None
