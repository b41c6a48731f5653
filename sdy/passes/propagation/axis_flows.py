"""Which axes a step moved, from which of the op's tensors to which.

The idea is Shardy's `SourceShardingHandler`: what a tensor gained along a factor comes from the
first tensor, operands before results, that was sharded so before the step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdy.passes.propagation.projection import Projection, is_prefix
from sdy.passes.propagation.step import common_mesh, propagated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding import TensorSharding
    from sdy.dialect.sharding_rule import DimMapping, OpShardingRule
    from sdy.passes.propagation.projection import Axes, TensorFactors
    from sdy.passes.propagation.step_case import StepCase

__all__ = ["AxisFlow", "constraint_flows", "projection_flows", "step_flows"]


@dataclass(frozen=True, slots=True)
class AxisFlow:
    """An axis that went from one tensor of an op to another.

    Attributes:
      axis: the axis as the target got it; parts that several factors got are joined.
      factor: the factor along which it went.
      source: the position of the tensor that it came from, operands before results.
      target: the position of the tensor that got it.

    """

    axis: AxisRef
    factor: int
    source: int
    target: int


def step_flows(case: StepCase) -> tuple[AxisFlow, ...]:
    """Return what a step of propagation moves, ordered by target."""
    mesh = common_mesh(case.shardings)
    if mesh is None or mesh.is_maximal:
        return ()
    before = Projection.build(case.shardings, case.op.rule, mesh)
    after, _ = propagated(case, mesh)
    return projection_flows(case.op.rule, mesh, before, after)


def constraint_flows(rule: OpShardingRule, sharding: TensorSharding) -> tuple[AxisFlow, ...] | None:
    """Return what moves where a constraint's input, without a sharding, gets the constraint's.

    None where that changes no factor's sharding.
    """
    mesh = sharding.bound_mesh
    if mesh.is_maximal:
        return None
    before = Projection.build((None, sharding), rule, mesh)
    after = Projection.build((sharding, sharding), rule, mesh)
    return None if before == after else projection_flows(rule, mesh, before, after)


def projection_flows(
    rule: OpShardingRule, mesh: Mesh, before: Projection, after: Projection
) -> tuple[AxisFlow, ...]:
    """Return what moves where the factor shardings of an op become others, ordered by target."""
    old_tensors = list(before.tensors())
    flows: list[AxisFlow] = []
    for target, (mapping, new) in enumerate(zip(rule.tensors, after.tensors(), strict=True)):
        arrived: dict[AxisRef, AxisFlow] = {}
        for dimension in mapping.dimensions:
            _add_arrivals(arrived, dimension, old_tensors, target, new, mesh)
        flows += arrived.values()
    return tuple(flows)


def _add_arrivals(
    arrived: dict[AxisRef, AxisFlow],
    dimension: DimMapping,
    old_tensors: Sequence[TensorFactors],
    target: int,
    new: TensorFactors,
    mesh: Mesh,
) -> None:
    """Add the axes that a dimension gained.

    A part that continues what the factor before gained takes its place, as the whole.
    """
    previous: AxisRef | None = None
    for factor in dimension.factors:
        old_axes, new_axes = _axes(old_tensors[target], factor), _axes(new, factor)
        if old_axes is None or not new_axes or old_axes == new_axes:
            continue
        last = new_axes[-1]
        if previous is not None and previous.can_merge(last):
            arrived.pop(previous, None)
            last = previous.merge(last, mesh)
        previous = new_axes[-1]
        source = _source(old_tensors, factor, new_axes)
        if source is not None:
            for axis in _gained(old_axes, (*new_axes[:-1], last)):
                arrived.setdefault(axis, AxisFlow(axis, factor, source, target))


def _axes(tensor: TensorFactors, factor: int) -> Axes | None:
    sharding = tensor.factors.get(factor)
    return None if sharding is None else sharding.axes


def _source(old_tensors: Sequence[TensorFactors], factor: int, axes: Axes) -> int | None:
    for position, tensor in enumerate(old_tensors):
        old_axes = _axes(tensor, factor)
        if old_axes is not None and is_prefix(axes, old_axes):
            return position
    return None


def _gained(old: Axes, new: Axes) -> Iterator[AxisRef]:
    """Yield what `new` has beyond `old`, whose last axis may have grown."""
    if old and old[-1] != new[len(old) - 1]:
        yield new[len(old) - 1]
    yield from new[len(old) :]
