"""An all-reduce of which everybody takes the same slice: a reduce-scatter."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.axes import join_axes
from sdy.dialect.sharding import DimensionSharding, TensorSharding
from sdy.ir.axis_lists import axes_per_dim_attribute, read_axes, read_axes_per_dim
from sdy.ir.op_names import ALL_REDUCE, ALL_SLICE, REDUCE_SCATTER
from sdy.ir.value_sharding import sharding_of
from sdy.passes.canonicalize.driver import Rewriter, pattern
from sdy.passes.canonicalize.labels import COLLECTIVE_LABEL
from sdy.passes.canonicalize.operations import producer, users

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.mesh import Mesh
    from sdy.ir.axis_lists import AxesPerDim

__all__ = ["reduce_scatter_fusion"]


@pattern(ALL_SLICE, label=COLLECTIVE_LABEL)
def reduce_scatter_fusion(op: ir.Operation, rewriter: Rewriter) -> bool:
    """Scatter along the reduced axes, then slice along what is left of the slicing axes."""
    all_reduce = producer(op.operands[0], ALL_REDUCE)
    if all_reduce is None or not _is_first_of_equal_slices(op, all_reduce.result):
        return False
    split = _split_axes(
        read_axes_per_dim(op.attributes["slicing_axes"]),
        read_axes(all_reduce.attributes["reduction_axes"]),
    )
    if split is None:
        return False
    scattered_axes, sliced_axes = split
    at = ir.InsertionPoint(op)
    source = all_reduce.operands[0]
    sharding = _scattered_sharding(all_reduce, op, scattered_axes, rewriter)
    result = rewriter.create(
        REDUCE_SCATTER,
        [source],
        {
            "reduce_scatter_axes": axes_per_dim_attribute(scattered_axes, rewriter.context),
            "out_sharding": rewriter.codec.attribute(sharding),
        },
        source.type,
        at=at,
        location=all_reduce.location,
    )
    if any(sliced_axes):
        result = rewriter.create(
            ALL_SLICE,
            [result],
            {
                "slicing_axes": axes_per_dim_attribute(sliced_axes, rewriter.context),
                "out_sharding": op.attributes["out_sharding"],
            },
            source.type,
            at=at,
            location=op.location,
        )
    for user in list(users(all_reduce.result)):
        rewriter.replace(user, [result])
    rewriter.erase(all_reduce)
    return True


def _is_first_of_equal_slices(op: ir.Operation, reduced: ir.Value) -> bool:
    """Return whether all users are slices along the same axes, in one block, `op` the first."""
    axes, block = op.attributes["slicing_axes"], op.block
    return all(
        user.name == ALL_SLICE
        and user.attributes["slicing_axes"] == axes
        and user.block == block
        and (user == op or op.is_before_in_block(user))
        for user in users(reduced)
    )


def _split_axes(
    slicing: AxesPerDim, reduction: Iterable[AxisRef]
) -> tuple[AxesPerDim, AxesPerDim] | None:
    """Return the leading slicing axes of each dimension that are reduced, and the other ones.

    None where a reduced axis is not among the leading ones of any dimension.
    """
    pending = set(reduction)
    scattered: list[tuple[AxisRef, ...]] = []
    sliced: list[tuple[AxisRef, ...]] = []
    for axes in slicing:
        count = 0
        while count < len(axes) and axes[count] in pending:
            pending.remove(axes[count])
            count += 1
        scattered.append(axes[:count])
        sliced.append(axes[count:])
    return None if pending else (tuple(scattered), tuple(sliced))


def _scattered_sharding(
    all_reduce: ir.Operation, all_slice: ir.Operation, axes: AxesPerDim, rewriter: Rewriter
) -> TensorSharding:
    """Return the sharding of what is reduced with `axes` appended to its dimensions, closed."""
    codec = rewriter.codec
    reduced = codec.sharding(all_reduce.attributes["out_sharding"])
    sliced = codec.sharding(all_slice.attributes["out_sharding"])
    source = sharding_of(all_reduce.operands[0], codec)
    if source is None:
        source = TensorSharding.fully_closed(reduced.mesh, len(axes))
    mesh = reduced.bound_mesh
    return replace(
        sliced,
        mesh=reduced.mesh,
        dimensions=tuple(
            DimensionSharding(_append(dimension.axes, added, mesh))
            for dimension, added in zip(source.dimensions, axes, strict=True)
        ),
    )


def _append(axes: tuple[AxisRef, ...], added: Iterable[AxisRef], mesh: Mesh) -> tuple[AxisRef, ...]:
    return reduce(lambda joined, axis: join_axes(joined, (axis,), mesh), added, axes)
