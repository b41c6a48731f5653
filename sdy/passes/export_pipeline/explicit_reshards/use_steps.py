"""What stands between a tensor and one use of it, where the use wants it sharded otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sdy.dialect.axes import axes_without, merge_adjacent_axes
from sdy.dialect.errors import Error
from sdy.dialect.sharding import TensorSharding
from sdy.passes.export_pipeline.explicit_reshards.steps import (
    AllReduce,
    ReplicatedToUnreduced,
    Reshard,
    ShardedToUnreduced,
    Step,
)
from sdy.passes.propagation.projection import is_strict_prefix

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding import DimensionSharding
    from sdy.ir.axis_lists import AxesPerDim

__all__ = [
    "is_equivalent",
    "operand_all_reduces",
    "sorted_axes",
    "steps_to",
    "steps_to_unreduced",
    "unreduced_axes",
]

Axes = tuple["AxisRef", ...]


def steps_to(
    source: TensorSharding | None, target: TensorSharding | None, *, may_reshard: bool
) -> tuple[Step, ...]:
    """Return what brings a tensor from one sharding to another; None is no sharding.

    Args:
      source: the sharding before.
      target: the sharding after.
      may_reshard: whether also reshards are wanted, not just what unreduced axes need.

    Raises:
      Error: where one sharding has unreduced axes and the other one is not of the same mesh, or
        does not go with them.

    """
    steps: list[Step] = []
    current = source
    reduced = _all_reduce(current, target)
    if reduced is not None:
        steps.append(reduced)
        current = reduced.sharding
    steps += steps_to_unreduced(current, target)
    if steps:
        current = steps[-1].sharding
    if may_reshard and not is_equivalent(current, target):
        known = target or current
        assert known is not None, "no sharding is equivalent to itself"
        steps.append(Reshard(target or TensorSharding.fully_closed(known.mesh, known.rank)))
    return tuple(steps)


def is_equivalent(first: TensorSharding | None, second: TensorSharding | None) -> bool:
    """Return whether both split a tensor alike; no sharding splits nothing."""
    if first is None:
        return second is None or second.is_fully_replicated
    return first.splits_alike(second)


def unreduced_axes(sharding: TensorSharding | None) -> Axes:
    """Return the axes along which a tensor holds partial results."""
    return () if sharding is None else sharding.unreduced


def operand_all_reduces(
    operands: Sequence[TensorSharding | None], results: Sequence[TensorSharding | None]
) -> list[tuple[int, AllReduce]]:
    """Return the all-reduces of an op's operands along axes that are not unreduced in its results.

    Each comes with the index of its operand.

    Raises:
      Error: where the unreduced axes of several results differ, or operands of an op without
        results have some.

    """
    if not results:
        if any(map(unreduced_axes, operands)):
            raise Error("an operand has unreduced axes, but the op has no result")
        return []
    if len(set(map(unreduced_axes, results))) > 1:
        raise Error("the results of an op have different unreduced axes")
    steps = (_all_reduce(sharding, results[0]) for sharding in operands)
    return [(index, step) for index, step in enumerate(steps) if step is not None]


def _all_reduce(source: TensorSharding | None, target: TensorSharding | None) -> AllReduce | None:
    """Return the all-reduce along the unreduced axes that the target does not have so."""
    if source is None or not source.unreduced:
        return None
    mesh = source.bound_mesh
    if target is not None and not mesh.equals(target.bound_mesh):
        raise Error("a tensor with unreduced axes is used on another mesh")
    axes = axes_without(source.unreduced, unreduced_axes(target), mesh)
    if not axes:
        return None
    left = axes_without(source.unreduced, axes, mesh)
    return AllReduce(axes, replace(source, unreduced=left))


def steps_to_unreduced(
    source: TensorSharding | None, target: TensorSharding | None
) -> tuple[Step, ...]:
    """Return what makes axes unreduced that are replicated or sharded in the source.

    None where that is all as it should be. Sharded axes are the minor ones of their dimension.
    """
    if source is None or target is None or not target.unreduced:
        return ()
    mesh = source.bound_mesh
    if not mesh.equals(target.bound_mesh):
        raise Error("a tensor becomes unreduced on another mesh")
    axes = axes_without(target.unreduced, source.unreduced, mesh)
    if not axes:
        return ()
    if axes_without(source.unreduced, target.unreduced, mesh):
        raise Error("a tensor becomes unreduced along some axes while it is reduced along others")
    return _steps_to_unreduced(source, target, axes, mesh)


def _steps_to_unreduced(
    source: TensorSharding, target: TensorSharding, axes: Axes, mesh: Mesh
) -> tuple[Step, ...]:
    sharded, dimensions = _sharded_axes(source, target, axes, mesh)
    steps: list[Step] = []
    if any(old.axes != new.axes for old, new in zip(source.dimensions, dimensions, strict=True)):
        steps.append(Reshard(replace(source, dimensions=dimensions)))
    replicated = axes_without(axes, (axis for lists in sharded for axis in lists), mesh)
    if replicated:
        unreduced = sorted_axes(source.unreduced + replicated, mesh)
        sharding = TensorSharding(source.mesh, dimensions, target.replicated, unreduced)
        steps.append(ReplicatedToUnreduced(replicated, sharding))
    if any(sharded):
        steps.append(ShardedToUnreduced(sharded, target))
    return tuple(steps)


def _sharded_axes(
    source: TensorSharding, target: TensorSharding, axes: Axes, mesh: Mesh
) -> tuple[AxesPerDim, tuple[DimensionSharding, ...]]:
    """Return by dimension the sharded axes that become unreduced, and the sharding before."""
    sharded: list[Axes] = []
    dimensions: list[DimensionSharding] = []
    for old, new in zip(source.dimensions, target.dimensions, strict=True):
        minor: Axes = ()
        if is_strict_prefix(new.axes, old.axes):
            minor = _axes_behind(new.axes, old.axes, mesh)
            if axes_without(minor, axes, mesh):
                minor = ()
        sharded.append(minor)
        dimensions.append(old if minor else new)
    return tuple(sharded), tuple(dimensions)


def _axes_behind(prefix: Axes, axes: Axes, mesh: Mesh) -> Axes:
    """Return what of `axes` follows a strict prefix of it."""
    count = len(prefix)
    if not prefix or prefix[-1] == axes[count - 1]:
        return axes[count:]
    rest = axes[count - 1].suffix_without_overlap(prefix[-1], mesh)
    if rest is None:
        raise Error(f"{prefix[-1]} and {axes[count - 1]} cannot be told apart")
    return (rest, *axes[count:])


def sorted_axes(axes: Iterable[AxisRef], mesh: Mesh) -> Axes:
    """Return axes that do not overlap as they lie in the mesh, merged where they meet."""
    return merge_adjacent_axes(sorted(axes, key=lambda axis: axis.mesh_order(mesh)), mesh)
