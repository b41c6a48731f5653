"""Calls of Python functions on the host take the form that XLA's compiler knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.passes.base import Pass
from sdy.passes.gspmd.xla_names import (
    CUSTOM_CALL,
    GET_TUPLE_ELEMENT,
    HLO_SHARDING,
    is_python_callback,
)

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["ExportCallbacks"]


@dataclass(frozen=True, slots=True)
class ExportCallbacks(Pass):
    """Gives calls of Python functions on the host that have one result a tuple of one in its place.

    The element is taken out again, with the sharding of the call.
    """

    name: ClassVar[str] = "xla-sdy-stablehlo-round-trip-export-callback-custom-calls"

    def run(self, module: IndexedModule) -> None:
        """Replace the calls in place."""
        callbacks = [op for op in module.ops(CUSTOM_CALL) if _is_to_be_wrapped(op)]
        for op in callbacks:
            _wrap_result(op)
        if callbacks:
            module.ops_changed()


def _is_to_be_wrapped(op: ir.Operation) -> bool:
    if len(op.results) != 1 or not is_python_callback(op):
        return False
    result = op.results[0]
    return not isinstance(result.type, ir.TupleType) and next(iter(result.uses), None) is not None


def _wrap_result(op: ir.Operation) -> None:
    type_, place = op.results[0].type, ir.InsertionPoint(op)
    attributes = dict(op.attributes.items())
    call = ir.Operation.create(
        CUSTOM_CALL,
        results=[ir.TupleType.get_tuple([type_], op.context)],
        operands=list(op.operands),
        attributes=attributes,
        loc=op.location,
        ip=place,
    )
    with op.context:
        index = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 0)
    sharding = {HLO_SHARDING: attributes[HLO_SHARDING]} if HLO_SHARDING in attributes else {}
    element = ir.Operation.create(
        GET_TUPLE_ELEMENT,
        results=[type_],
        operands=[call.results[0]],
        attributes={"index": index, **sharding},
        loc=op.location,
        ip=place,
    )
    op.results[0].replace_all_uses_with(element.results[0])
    op.erase()
