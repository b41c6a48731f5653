"""Turns reshards into the collectives that do them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.dialect.sharding import TensorSharding
from sdy.ir.axis_lists import AllToAllParam, axes_per_dim_attribute, params_attribute
from sdy.ir.diagnostics import op_error
from sdy.ir.dialect_conversion import renew_operands
from sdy.ir.op_names import (
    ALL_GATHER,
    ALL_SLICE,
    ALL_TO_ALL,
    BARRIER,
    COLLECTIVE_PERMUTE,
    FUNCTION,
    RESHARD,
)
from sdy.ir.value_sharding import sharding_of
from sdy.passes.base import Pass, option
from sdy.passes.export_pipeline.reshard_plan import plan_reshard
from sdy.passes.export_pipeline.reshard_steps import AllGather, AllSlice, AllToAll

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule
    from sdy.passes.export_pipeline.reshard_plan import ReshardPlan
    from sdy.passes.export_pipeline.reshard_steps import ReshardStep

__all__ = ["ReshardToCollectives"]

_COLLECTIVES = frozenset({ALL_GATHER, ALL_SLICE, ALL_TO_ALL, COLLECTIVE_PERMUTE})


@dataclass(frozen=True, slots=True)
class ReshardToCollectives(Pass):
    """Converts every `sdy.reshard` into collectives of the sdy dialect.

    From `[{"x", "y"}, {}]` to `[{"x"}, {}]` it takes an all-gather along `"y"`; in general a
    sequence of all-slice, collective-permute, all-to-alls and all-gather, in this order, so that
    the tensor is smallest where it moves. Between meshes whose axes differ a reshard stays.
    """

    name: ClassVar[str] = "sdy-reshard-to-collectives"
    anchor: ClassVar[str] = FUNCTION

    keep_redundant_reshards: bool = option(
        False, "Whether to keep the reshards that do not change how the operand is sharded."
    )

    def run(self, module: IndexedModule) -> None:
        """Convert the reshards in place.

        Raises:
          Error: where the sharding of a reshard does not fit that of its operand.

        """
        converted: dict[ir.Value, ir.Value] = {}
        reshards: list[ir.Operation] = []
        for name, op in module.in_order:
            if name in _COLLECTIVES:
                continue
            if name != RESHARD:
                renew_operands(op)
            elif self._is_to_be_converted(op, module.codec):
                converted[op.result] = _convert(op, converted, module.codec)
                reshards.append(op)
        for old, new in converted.items():
            old.replace_all_uses_with(new)
        if reshards:
            module.ops_changed()
        for op in reversed(reshards):
            op.erase()

    def _is_to_be_converted(self, op: ir.Operation, codec: AttributeCodec) -> bool:
        before = sharding_of(_behind_barriers(op.operands[0], {}), codec)
        after = codec.sharding(op.attributes["sharding"])
        if self.keep_redundant_reshards and after.splits_alike(before):
            return False
        return after.is_fully_replicated or before is None or _is_same_mesh(before, after)


def _convert(
    op: ir.Operation, converted: dict[ir.Value, ir.Value], codec: AttributeCodec
) -> ir.Value:
    """Create the collectives before a reshard; return what takes the place of its result."""
    operand = converted.get(op.operands[0], op.operands[0])
    source = _behind_barriers(operand, converted)
    after = codec.sharding(op.attributes["sharding"])
    before = sharding_of(source, codec)
    if before is None:
        before = TensorSharding.fully_open(after.mesh, after.rank)
    if before.rank != after.rank:
        raise op_error(op, f"operand is sharded as one of rank {before.rank}, not {after.rank}")
    if after.is_fully_replicated:
        if before.is_fully_replicated:
            return operand
        after = TensorSharding.fully_closed(before.mesh, before.rank)
    # Unreduced axes stay: no reshard reduces.
    before = replace(before, unreduced=after.unreduced)
    for step in _plan(op, before, after).steps:
        source = _collective(step, source, op)
    return source


def _plan(op: ir.Operation, before: TensorSharding, after: TensorSharding) -> ReshardPlan:
    shape = tuple(ir.RankedTensorType(op.result.type).shape)
    return plan_reshard(before, after, shape)


def _collective(step: ReshardStep, operand: ir.Value, reshard: ir.Operation) -> ir.Value:
    context = reshard.context
    match step:
        case AllSlice():
            name = ALL_SLICE
            attributes = {"slicing_axes": axes_per_dim_attribute(step.axes, context)}
        case AllGather():
            name = ALL_GATHER
            attributes = {"gathering_axes": axes_per_dim_attribute(step.axes, context)}
        case AllToAll():
            name = ALL_TO_ALL
            param = AllToAllParam(step.axes, step.source, step.target)
            attributes = {"params": params_attribute((param,), context)}
        case _:
            name = COLLECTIVE_PERMUTE
            attributes = {}
    attributes["out_sharding"] = ir.Attribute.parse(f"#sdy.sharding<{step.sharding.body}>", context)
    return ir.Operation.create(
        name,
        results=[operand.type],
        operands=[operand],
        attributes=attributes,
        loc=reshard.location,
        ip=ir.InsertionPoint(reshard),
    ).result


def _behind_barriers(value: ir.Value, converted: Mapping[ir.Value, ir.Value]) -> ir.Value:
    """Return what barriers let through; of a reshard that is converted, what takes its place."""
    while True:
        value = converted.get(value, value)
        if not isinstance(value, ir.OpResult) or value.owner.operation.name != BARRIER:
            return value
        value = value.owner.operation.operands[0]


def _is_same_mesh(first: TensorSharding, second: TensorSharding) -> bool:
    """Return whether the meshes have the same axes, whatever the order of their devices."""
    return first.mesh == second.mesh or first.bound_mesh.equals(
        second.bound_mesh, ignore_device_ids=True
    )
