"""Ops of the sdy dialect become custom calls that are carried through HLO unread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.ir.attributes import SHARDING
from sdy.ir.op_names import BARRIER, CONSTRAINT, GROUP, RESHARD
from sdy.passes.base import Pass
from sdy.passes.gspmd.export_ops import export_constants
from sdy.passes.gspmd.frontend_attributes import set_frontend_attributes
from sdy.passes.gspmd.xla_names import (
    ALLOWED_DIRECTION,
    BARRIER_TARGET,
    GROUP_ID,
    GROUP_TARGET,
    SHARDING_TARGET,
    create_custom_call,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sdy.ir.indexed_module import IndexedModule

__all__ = ["RoundTripExportOps"]


@dataclass(frozen=True, slots=True)
class RoundTripExportOps(Pass):
    """Replaces ops of the sdy dialect by custom calls that `xla-sdy-import-sdy-custom-calls` reads.

    Constraints, sharding groups and propagation barriers do, and reshards, which come back as
    constraints; constants become StableHLO's.
    """

    name: ClassVar[str] = "xla-sdy-round-trip-export-ops"

    def run(self, module: IndexedModule) -> None:
        """Replace the ops in place."""
        export_constants(module)
        for op in (*module.ops(CONSTRAINT), *module.ops(RESHARD)):
            sharding = module.codec.sharding(op.attributes["sharding"])
            attributes = {name: a for name, a in op.attributes.items() if name != "sharding"}
            attributes[SHARDING] = module.codec.list_attribute((sharding,))
            _replace(op, SHARDING_TARGET, attributes, {})
        effects = {"has_side_effect": ir.BoolAttr.get(True, module.context)}
        for op in module.ops(GROUP):
            _replace(op, GROUP_TARGET, effects, {GROUP_ID: op.attributes["group_id"]})
        for op in module.ops(BARRIER):
            direction = op.attributes["allowed_direction"]
            _replace(op, BARRIER_TARGET, effects, {ALLOWED_DIRECTION: direction})
        module.ops_changed()


def _replace(
    op: ir.Operation,
    target: str,
    attributes: dict[str, ir.Attribute],
    frontend: Mapping[str, ir.Attribute],
) -> None:
    types = [result.type for result in op.results]
    place = ir.InsertionPoint(op)
    call = create_custom_call(target, types, [op.operands[0]], attributes, place, op.location)
    if frontend:
        set_frontend_attributes(call, frontend)
    for old, new in zip(op.results, call.results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()
