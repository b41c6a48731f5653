"""Calls that came through HLO unread become manual computations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir.dialects import sdy as mlir_sdy

from sdy.ir.call_graph import callee_name
from sdy.ir.diagnostics import op_error
from sdy.ir.op_names import CALL
from sdy.passes.base import Pass
from sdy.passes.gspmd.called_bodies import CalledBodies
from sdy.passes.gspmd.frontend_attributes import read_frontend_attribute
from sdy.passes.gspmd.manual_axes_attribute import read_manual_axes
from sdy.passes.gspmd.manual_bodies import ManualInterface, create_manual_computation
from sdy.passes.gspmd.xla_names import (
    CUSTOM_CALL,
    GLOBAL_TO_LOCAL,
    IN_SHARDINGS,
    LOCAL_TO_GLOBAL,
    MANUAL_AXES,
    OUT_SHARDINGS,
    ROUND_TRIP_BODY_FUNCTION,
    target_of,
)

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["RoundTripShardMapImport"]


@dataclass(frozen=True, slots=True)
class RoundTripShardMapImport(Pass):
    """Turns calls of `@xla.sdy.manual_computation_body` functions into manual computations.

    What they are like is read from the frontend attributes of the custom calls
    `@xla.sdy.GlobalToLocalShape` and `@xla.sdy.LocalToGlobalShape` around them. A call whose
    results nothing uses goes: they had no elements and were replaced by constants.
    """

    name: ClassVar[str] = "xla-sdy-round-trip-shard-map-import"

    def run(self, module: IndexedModule) -> None:
        """Replace the calls in place."""
        # Bodies that are cloned may have such calls in them.
        while calls := [c for c in module.ops(CALL) if ROUND_TRIP_BODY_FUNCTION in callee_name(c)]:
            bodies = CalledBodies(module)
            functions = [_import_call(call, bodies, module.codec) for call in calls]
            for function in functions:
                function.erase()
            module.ops_changed()
        # Those whose values were all replaced by constants are left without a call.
        shape_changes = [
            op
            for op in module.ops(CUSTOM_CALL)
            if target_of(op) in (GLOBAL_TO_LOCAL, LOCAL_TO_GLOBAL)
        ]
        for op in reversed(shape_changes):
            if any(next(iter(result.uses), None) is not None for result in op.results):
                raise op_error(
                    op,
                    f"expected its results to go to or from a call of a function "
                    f"@{ROUND_TRIP_BODY_FUNCTION}",
                )
            op.erase()
        if shape_changes:
            module.ops_changed()


def _import_call(call: ir.Operation, bodies: CalledBodies, codec: AttributeCodec) -> ir.Operation:
    """Replace a call; return the function of its own that it had, for later erasure."""
    function = bodies.take(call)
    if len(call.results) and not any(list(result.uses) for result in call.results):
        call.erase()
        return function
    before = _global_to_local(call)
    after = _local_to_global(call)
    interface = ManualInterface(
        operands=[] if before is None else list(before.operands),
        result_types=[] if after is None else [result.type for result in after.results],
        in_shardings=_shardings(before, IN_SHARDINGS, codec),
        out_shardings=_shardings(after, OUT_SHARDINGS, codec),
        manual_axes=_manual_axes(before) or _manual_axes(after),
    )
    op = create_manual_computation(call, function, interface, codec)
    if after is not None:
        for old, new in zip(after.results, op.results, strict=True):
            old.replace_all_uses_with(new)
        after.erase()
    call.erase()
    return function


def _global_to_local(call: ir.Operation) -> ir.Operation | None:
    """Return the custom call before a call; None where the call has no operands."""
    if not len(call.operands):
        return None
    owners = [operand.owner for operand in call.operands]
    for owner in owners:
        if hasattr(owner, "operation") and target_of(owner.operation) == GLOBAL_TO_LOCAL:
            return owner.operation
    raise op_error(call, f"expected an operand to come from custom call @{GLOBAL_TO_LOCAL}")


def _local_to_global(call: ir.Operation) -> ir.Operation | None:
    """Return the custom call behind a call; None where the call has no results."""
    for result in call.results:
        for use in result.uses:
            if target_of(use.owner.operation) != LOCAL_TO_GLOBAL:
                raise op_error(call, f"expected its results to go to @{LOCAL_TO_GLOBAL}")
            return use.owner.operation
    return None


def _shardings(
    op: ir.Operation | None, name: str, codec: AttributeCodec
) -> tuple[TensorSharding, ...]:
    if op is None:
        return ()
    attribute = read_frontend_attribute(op, name, mlir_sdy.TensorShardingPerValueAttr)
    return () if attribute is None else codec.shardings(attribute)


def _manual_axes(op: ir.Operation | None) -> tuple[str, ...]:
    if op is None:
        return ()
    return read_manual_axes(read_frontend_attribute(op, MANUAL_AXES, mlir_sdy.ManualAxesAttr))
