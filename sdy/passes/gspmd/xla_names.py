"""What XLA's partitioner, and programs on the way through HLO, call ops and attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jaxlib.mlir import ir

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "ALLOWED_DIRECTION",
    "BARRIER_TARGET",
    "BODY_FUNCTION",
    "CUSTOM_CALL",
    "FULL_TO_SHARD",
    "FUNCTION_RESULT_TARGET",
    "GET_TUPLE_ELEMENT",
    "GLOBAL_TO_LOCAL",
    "GROUP_ID",
    "GROUP_TARGET",
    "HLO_SHARDING",
    "IN_SHARDINGS",
    "LOCAL_TO_GLOBAL",
    "MANUAL_AXES",
    "MESHES",
    "OUT_SHARDINGS",
    "ROUND_TRIP_BODY_FUNCTION",
    "ROUND_TRIP_SHARDING",
    "ROUND_TRIP_SHARDING_RULE",
    "SHARDING_TARGET",
    "SHARD_TO_FULL",
    "TUPLE",
    "TUPLE_ARGUMENTS",
    "TUPLE_RESULTS",
    "create_custom_call",
    "is_python_callback",
    "target_of",
]

HLO_SHARDING: Final = "mhlo.sharding"

CUSTOM_CALL: Final = "stablehlo.custom_call"
TUPLE: Final = "stablehlo.tuple"
GET_TUPLE_ELEMENT: Final = "stablehlo.get_tuple_element"

# Targets of custom calls that the partitioner knows.
SHARDING_TARGET: Final = "Sharding"
FULL_TO_SHARD: Final = "SPMDFullToShardShape"
SHARD_TO_FULL: Final = "SPMDShardToFullShape"

# Targets of custom calls that stand for ops of the sdy dialect on the way through HLO.
GROUP_TARGET: Final = "xla.sdy.ShardingGroup"
BARRIER_TARGET: Final = "xla.sdy.PropagationBarrier"
FUNCTION_RESULT_TARGET: Final = "xla.sdy.FuncResultSharding"
GLOBAL_TO_LOCAL: Final = "xla.sdy.GlobalToLocalShape"
LOCAL_TO_GLOBAL: Final = "xla.sdy.LocalToGlobalShape"

# Functions with the bodies of manual computations: for the partitioner, which inlines them, and
# on the way through HLO, where nothing may.
BODY_FUNCTION: Final = "xla.sdy.inlinable_manual_computation_body"
ROUND_TRIP_BODY_FUNCTION: Final = "xla.sdy.manual_computation_body"

# Attributes, of ops or among the frontend attributes.
MANUAL_AXES: Final = "xla.sdy.manual_axes"
IN_SHARDINGS: Final = "xla.sdy.in_shardings"
OUT_SHARDINGS: Final = "xla.sdy.out_shardings"
ROUND_TRIP_SHARDING: Final = "xla.sdy.sharding"
ROUND_TRIP_SHARDING_RULE: Final = "xla.sdy.sharding_rule"
MESHES: Final = "xla.sdy.meshes"
GROUP_ID: Final = "xla.sdy.sharding_group_id"
ALLOWED_DIRECTION: Final = "xla.sdy.allowed_direction"
TUPLE_ARGUMENTS: Final = "xla.sdy.tuple_args_shardings"
TUPLE_RESULTS: Final = "xla.sdy.tuple_results_shardings"

_CALLBACKS = frozenset(
    f"xla_{ffi}python_{platform}_callback" for ffi in ("", "ffi_") for platform in ("cpu", "gpu")
)


def target_of(op: ir.Operation) -> str | None:
    """Return the target of a `stablehlo.custom_call`; None for any other op."""
    if op.name != CUSTOM_CALL:
        return None
    target: str = ir.StringAttr(op.attributes["call_target_name"]).value
    return target


def is_python_callback(op: ir.Operation) -> bool:
    """Return whether an op calls a Python function on the host."""
    return target_of(op) in _CALLBACKS


def create_custom_call(
    target: str,
    results: Sequence[ir.Type],
    operands: Sequence[ir.Value],
    attributes: dict[str, ir.Attribute],
    place: ir.InsertionPoint,
    location: ir.Location,
) -> ir.Operation:
    """Create a `stablehlo.custom_call` of `target` with further attributes."""
    return ir.Operation.create(
        CUSTOM_CALL,
        results=list(results),
        operands=list(operands),
        attributes={
            "call_target_name": ir.StringAttr.get(target, location.context),
            **attributes,
        },
        loc=location,
        ip=place,
    )
