"""Attributes of the sdy dialect become frontend attributes, which HLO keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.ir.attributes import SHARDING, SHARDING_RULE
from sdy.ir.data_flow import region_terminator
from sdy.ir.op_names import FUNCTION, MESH
from sdy.ir.signature_attributes import (
    named_attributes,
    set_signature_entries,
    signature_attribute,
    signature_entries,
)
from sdy.ir.symbols import symbol_name
from sdy.passes.base import Pass, option
from sdy.passes.gspmd.frontend_attributes import (
    set_frontend_attributes,
    with_frontend_attributes,
)
from sdy.passes.gspmd.xla_names import (
    FUNCTION_RESULT_TARGET,
    MESHES,
    ROUND_TRIP_SHARDING,
    ROUND_TRIP_SHARDING_RULE,
    create_custom_call,
)

if TYPE_CHECKING:
    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["RoundTripExportShardyAttrs"]


@dataclass(frozen=True, slots=True)
class RoundTripExportShardyAttrs(Pass):
    """Writes meshes, shardings and sharding rules as frontend attributes, which HLO keeps.

    HLO has no attributes for results of functions: what is returned goes through a custom call
    `@xla.sdy.FuncResultSharding`, which says how the result is sharded.
    """

    name: ClassVar[str] = "xla-sdy-round-trip-export-shardy-attrs"

    enable_hlo_sharding_v3: bool = option(
        False, "Whether only rules are written, as HloShardings name meshes and axes themselves."
    )

    def run(self, module: IndexedModule) -> None:
        """Write the attributes in place; shardings and meshes stay beside them."""
        if not self.enable_hlo_sharding_v3:
            for function in module.ops(FUNCTION):
                _export_arguments(function)
                _export_results(function, module.codec)
            module.ops_changed()
            _export_meshes(module)
        for _, op in module.in_order:
            attributes = op.attributes
            if SHARDING in attributes and not self.enable_hlo_sharding_v3:
                set_frontend_attributes(op, {ROUND_TRIP_SHARDING: attributes[SHARDING]})
            if SHARDING_RULE in attributes:
                set_frontend_attributes(op, {ROUND_TRIP_SHARDING_RULE: attributes[SHARDING_RULE]})
                del attributes[SHARDING_RULE]


def _export_arguments(function: ir.Operation) -> None:
    entries = signature_entries(function, "arg_attrs")
    if any(SHARDING in entry for entry in entries):
        changed = [_with_frontend(entry) if SHARDING in entry else entry for entry in entries]
        set_signature_entries(function, "arg_attrs", changed)


def _with_frontend(entry: ir.DictAttr) -> ir.DictAttr:
    named = named_attributes(entry)
    added = {ROUND_TRIP_SHARDING: named[SHARDING]}
    return ir.DictAttr.get(
        with_frontend_attributes(named, added, entry.context), context=entry.context
    )


def _export_results(function: ir.Operation, codec: AttributeCodec) -> None:
    if not len(function.regions[0].blocks):
        return
    terminator = region_terminator(function.regions[0])
    for number, value in enumerate(list(terminator.operands)):
        attribute = signature_attribute(function, "res_attrs", number, SHARDING)
        if attribute is None:
            continue
        call = create_custom_call(
            FUNCTION_RESULT_TARGET,
            [value.type],
            [value],
            {"has_side_effect": ir.BoolAttr.get(True, function.context)},
            ir.InsertionPoint(terminator),
            value.location,
        )
        per_value = codec.list_attribute((codec.sharding(attribute),))
        set_frontend_attributes(call, {ROUND_TRIP_SHARDING: per_value})
        terminator.operands[number] = call.results[0]


def _export_meshes(module: IndexedModule) -> None:
    meshes = {symbol_name(op): op.attributes["mesh"] for op in module.ops(MESH)}
    if meshes:
        listed = ir.DictAttr.get(meshes, context=module.context)
        set_frontend_attributes(module.operation, {MESHES: listed})
