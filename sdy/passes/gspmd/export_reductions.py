"""Collectives on unreduced tensors, which XLA's partitioner does not know of, are written out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo as mlir_stablehlo

from sdy.dialect.device_groups import groups_along
from sdy.dialect.sharding import TensorSharding
from sdy.ir.attributes import SHARDING
from sdy.ir.axis_lists import axes_attribute, read_axes, read_axes_per_dim
from sdy.ir.data_flow import MANUAL_COMPUTATION
from sdy.ir.diagnostics import op_error
from sdy.ir.op_names import (
    ALL_REDUCE,
    MHLO_COPY,
    REDUCE_SCATTER,
    REPLICATED_TO_UNREDUCED,
    SDY_CONSTANT,
    SDY_RETURN,
    SHARDED_TO_UNREDUCED,
)
from sdy.ir.sharding_access import set_sharding_of
from sdy.ir.value_sharding import sharding_of
from sdy.passes.base import Pass, option
from sdy.passes.gspmd.local_ops import LocalOps
from sdy.passes.gspmd.manual_axes_attribute import manual_axes_attribute

if TYPE_CHECKING:
    from collections.abc import Callable

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.mesh import Mesh
    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["ExportManualReductionCollectives"]

_COLLECTIVES = (ALL_REDUCE, REDUCE_SCATTER, SHARDED_TO_UNREDUCED, REPLICATED_TO_UNREDUCED)
_SAME_DATA = frozenset({"stablehlo.transpose", "stablehlo.reshape", MHLO_COPY})
_CHANNEL = "channel_handle"


@dataclass(frozen=True, slots=True)
class ExportManualReductionCollectives(Pass):
    """Writes collectives that take or make unreduced tensors as manual computations.

    XLA's partitioner would leave an unreduced tensor as it is. So all-reduces and reduce-scatters
    of one are StableHLO's, in a computation that is manual along all axes; in such a computation,
    too, all devices but one set to zero what becomes unreduced. A constant that is unreduced is
    made so after it.
    """

    name: ClassVar[str] = "xla-sdy-stablehlo-export-manual-reduction-collectives"

    export_all_reduce_scatter: bool = option(
        False, "Whether reduce-scatters of whole tensors are written out too, not left to XLA."
    )

    def run(self, module: IndexedModule) -> None:
        """Replace the collectives in place."""
        has_changed = _make_constants_unreduced(module)
        _make_sources_unreduced(module)
        if has_changed:
            module.ops_changed()
        if not any(module.ops(name) for name in _COLLECTIVES):
            return
        exporter = _Exporter(module)
        for op in module.walk(ir.WalkOrder.POST_ORDER):
            if op.name in _COLLECTIVES and self._is_to_be_written(op, module.codec):
                exporter.export(op)
        module.ops_changed()

    def _is_to_be_written(self, op: ir.Operation, codec: AttributeCodec) -> bool:
        if op.name in (SHARDED_TO_UNREDUCED, REPLICATED_TO_UNREDUCED):
            return True
        if op.name == REDUCE_SCATTER and self.export_all_reduce_scatter:
            return True
        sharding = sharding_of(op.operands[0], codec)
        return sharding is not None and bool(sharding.unreduced)


def _make_constants_unreduced(module: IndexedModule) -> bool:
    has_changed = False
    for constant in module.ops(SDY_CONSTANT):
        sharding = sharding_of(constant.result, module.codec)
        if sharding is None or not sharding.unreduced:
            continue
        reduced = replace(sharding, unreduced=())
        constant.attributes[SHARDING] = module.codec.list_attribute((reduced,))
        op = ir.Operation.create(
            REPLICATED_TO_UNREDUCED,
            results=[constant.result.type],
            operands=[constant.result],
            attributes={
                "axes": axes_attribute(sharding.unreduced, module.context),
                "out_sharding": module.codec.attribute(sharding),
            },
            loc=constant.location,
            ip=ir.InsertionPoint.after(constant),
        )
        constant.result.replace_all_uses_except(op.results[0], op)
        has_changed = True
    return has_changed


def _make_sources_unreduced(module: IndexedModule) -> None:
    """Let ops that only arrange data anew have their unreduced axes from their operands on."""
    ops = [op for op in module.walk(ir.WalkOrder.POST_ORDER) if op.name in _SAME_DATA]
    for op in reversed(ops):
        out = sharding_of(op.results[0], module.codec)
        source = op.operands[0]
        if out is None or not out.unreduced or isinstance(source, ir.BlockArgument):
            continue
        known = sharding_of(source, module.codec)
        sharding = known or TensorSharding.fully_closed(out.mesh, source.type.rank)
        if not _uses(sharding, out.unreduced):
            changed = replace(sharding, unreduced=out.unreduced)
            set_sharding_of(source, changed, module.codec)


def _uses(sharding: TensorSharding, axes: tuple[AxisRef, ...]) -> bool:
    """Return whether a tensor is split, or explicitly replicated, along some of `axes`."""
    used = [a for dimension in sharding.dimensions for a in dimension.axes] + [*sharding.replicated]
    return any(mine.overlaps(other) for mine in used for other in axes)


class _Exporter:
    def __init__(self, module: IndexedModule) -> None:
        self._codec = module.codec
        self._context = module.context
        handles = [
            mlir_stablehlo.ChannelHandle(op.attributes[_CHANNEL]).handle
            for _, op in module.in_order
            if _CHANNEL in op.attributes
        ]
        self._channel = max(handles, default=0)
        self._bodies: dict[str, Callable[[ir.Operation, LocalOps, ir.Value], ir.Value]] = {
            ALL_REDUCE: self._all_reduce,
            REDUCE_SCATTER: self._reduce_scatter,
            SHARDED_TO_UNREDUCED: self._place_among_zeros,
            REPLICATED_TO_UNREDUCED: self._keep_on_first,
        }

    def export(self, op: ir.Operation) -> None:
        """Replace a collective by a manual computation."""
        source = op.operands[0]
        out = self._out_sharding(op)
        mesh = out.bound_mesh
        sharding = sharding_of(source, self._codec)
        if sharding is None:
            sharding = TensorSharding.fully_open(mesh, out.rank)
        computation = ir.Operation.create(
            MANUAL_COMPUTATION,
            results=[op.results[0].type],
            operands=[source],
            attributes={
                "in_shardings": self._codec.list_attribute((sharding,)),
                "out_shardings": self._codec.list_attribute((out,)),
                "manual_axes": manual_axes_attribute(mesh.axis_names, self._context),
            },
            regions=1,
            loc=op.location,
            ip=ir.InsertionPoint(op),
        )
        local = _local_type(op, source.type, sharding)
        block = computation.regions[0].blocks.append(local, arg_locs=[source.location])
        ops = LocalOps(block, op.location)
        ops.finish(SDY_RETURN, self._bodies[op.name](op, ops, block.arguments[0]))
        op.results[0].replace_all_uses_with(computation.results[0])
        op.erase()

    def _out_sharding(self, op: ir.Operation) -> TensorSharding:
        return self._codec.sharding(op.attributes["out_sharding"])

    def _next_channel(self) -> int:
        self._channel += 1
        return self._channel

    def _all_reduce(self, op: ir.Operation, ops: LocalOps, value: ir.Value) -> ir.Value:
        axes = read_axes(op.attributes["reduction_axes"])
        groups = groups_along(self._out_sharding(op).bound_mesh, axes).devices()
        return ops.sum_over("stablehlo.all_reduce", value, value.type, groups, self._next_channel())

    def _reduce_scatter(self, op: ir.Operation, ops: LocalOps, value: ir.Value) -> ir.Value:
        mesh = self._out_sharding(op).bound_mesh
        for dimension, axes in enumerate(read_axes_per_dim(op.attributes["reduce_scatter_axes"])):
            if not axes:
                continue
            groups = groups_along(mesh, axes).devices()
            sizes = list(value.type.shape)
            if sizes[dimension] % len(groups[0]):
                raise _not_divisible(op)
            sizes[dimension] //= len(groups[0])
            type_ = ir.RankedTensorType.get(sizes, value.type.element_type, loc=op.location)
            integer = ir.IntegerType.get_signless(64, self._context)
            scattered = {"scatter_dimension": ir.IntegerAttr.get(integer, dimension)}
            value = ops.sum_over(
                "stablehlo.reduce_scatter", value, type_, groups, self._next_channel(), scattered
            )
        return value

    def _place_among_zeros(self, op: ir.Operation, ops: LocalOps, value: ir.Value) -> ir.Value:
        """Return the tensor of which this device has a part, with zeros for the rest."""
        out = self._out_sharding(op)
        full = _local_type(op, op.results[0].type, out)
        zeros = ops.zeros(full)
        mesh = _counted_mesh(op, out)
        coordinates = ops.coordinates(mesh)
        axes_per_dim = read_axes_per_dim(op.attributes["axes"])
        offsets: list[ir.Value] = []
        for dimension, axes in enumerate(axes_per_dim):
            index = ops.integer(0)
            for axis in _whole_axes(op, axes):
                scaled = ops.binary("multiply", index, ops.integer(mesh.axis_size(axis)))
                index = ops.binary("add", scaled, coordinates[axis])
            size = ops.integer(value.type.shape[dimension])
            offsets.append(ops.binary("multiply", index, size))
        return ops.op("stablehlo.dynamic_update_slice", full, [zeros, value, *offsets])

    def _keep_on_first(self, op: ir.Operation, ops: LocalOps, value: ir.Value) -> ir.Value:
        """Return the tensor on the first of the devices that have it, and zeros on the others."""
        coordinates = ops.coordinates(_counted_mesh(op, self._out_sharding(op)))
        axes = _whole_axes(op, read_axes(op.attributes["axes"]))
        is_first = ops.is_zero(coordinates[axes[0]])
        for axis in axes[1:]:
            is_first = ops.binary("and", is_first, ops.is_zero(coordinates[axis]))
        return ops.op("stablehlo.select", value.type, [is_first, value, ops.zeros(value.type)])


def _local_type(op: ir.Operation, type_: ir.Type, sharding: TensorSharding) -> ir.Type:
    shape = tuple(ir.RankedTensorType(type_).shape)
    mesh = sharding.bound_mesh
    for size, dimension in zip(shape, sharding.dimensions, strict=True):
        if size % dimension.sharded_size(mesh):
            raise _not_divisible(op)
    element = ir.RankedTensorType(type_).element_type
    return ir.RankedTensorType.get(sharding.local_shape(shape), element, loc=op.location)


def _not_divisible(op: ir.Operation) -> Exception:
    return op_error(op, "unreduced tensors can only be split evenly")


def _counted_mesh(op: ir.Operation, sharding: TensorSharding) -> Mesh:
    if sharding.bound_mesh.device_ids:
        raise op_error(op, f"expected devices 0, 1, 2, ...: {sharding.bound_mesh}")
    return sharding.bound_mesh


def _whole_axes(op: ir.Operation, axes: tuple[AxisRef, ...]) -> list[str]:
    if any(axis.sub_axis is not None for axis in axes):
        raise op_error(op, "cannot make a tensor unreduced along a part of an axis")
    return [axis.name for axis in axes]
