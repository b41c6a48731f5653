"""One step of propagation: make the shardings of an op's tensors agree.

A step depends on nothing but the op's rule and the shardings it meets, so it is taken once per
distinct case and looked up ever after.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdy.passes.propagation.projection import Projection
from sdy.passes.propagation.strategies import propagate_factors

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding import TensorSharding
    from sdy.dialect.sharding_rule import OpShardingRule
    from sdy.passes.propagation.direction import Direction
    from sdy.passes.propagation.op_priorities import Flow
    from sdy.passes.propagation.strategies import Strategy

__all__ = ["Change", "OpClass", "StepCase", "common_mesh", "propagated", "take_step"]

Change = tuple[int, "TensorSharding"]
Axes = tuple["AxisRef", ...]


@dataclass(frozen=True, slots=True)
class OpClass:
    """All that a step reads of an op; ops of one class behave alike.

    Attributes:
      rule: its sharding rule.
      flow: what the op priorities distinguish in it.
      is_elementwise: whether it counts as elementwise.
      conservative: whether its step may not make sub-axes.

    """

    rule: OpShardingRule
    flow: Flow
    is_elementwise: bool
    conservative: bool


@dataclass(frozen=True, slots=True, eq=False)
class StepCase:
    """All that a step depends on.

    Attributes:
      op: the op's class.
      strategy: how conflicts are met.
      directions: for each factor of the rule, where its axes may go.
      shardings: those of the operands, then of the results.

    """

    op: OpClass
    strategy: Strategy
    directions: tuple[Direction, ...]
    shardings: tuple[TensorSharding | None, ...]


def common_mesh(shardings: Iterable[TensorSharding | None]) -> Mesh | None:
    """Return the mesh that all shardings share; None where there is none or more than one.

    Meshes are one if they arrange the same devices alike, whatever their names; a mesh without
    axes and devices goes with every other.
    """
    common: Mesh | None = None
    for sharding in shardings:
        if sharding is None:
            continue
        mesh = sharding.bound_mesh
        if common is None or common.is_empty:
            common = mesh
        elif not mesh.is_empty and not mesh.equals(common):
            return None
    return common


def take_step(case: StepCase) -> tuple[Change, ...]:
    """Return the new shardings of an op's tensors, by position, where they change."""
    rule = case.op.rule
    if _all_agree(rule, case.directions, case.shardings):
        return ()
    mesh = common_mesh(case.shardings)
    if mesh is None or mesh.is_maximal:
        return ()
    projection, changed = propagated(case, mesh)
    return tuple(
        (position, new)
        for position, (tensor, mapping, old) in enumerate(
            zip(projection.tensors(), rule.tensors, case.shardings, strict=True)
        )
        if changed[position]
        and _is_update(old, new := tensor.to_sharding(mapping, rule.factor_sizes, mesh))
    )


def propagated(case: StepCase, mesh: Mesh) -> tuple[Projection, list[bool]]:
    """Return the factor shardings after a step, and for each tensor whether they changed."""
    projection = Projection.build(case.shardings, case.op.rule, mesh)
    changed = propagate_factors(
        case.strategy,
        projection,
        case.directions,
        case.op.rule,
        mesh,
        is_elementwise=case.op.is_elementwise,
        conservative=case.op.conservative,
    )
    return projection, changed


def _all_agree(
    rule: OpShardingRule,
    directions: Sequence[Direction],
    shardings: Sequence[TensorSharding | None],
) -> bool:
    """Return whether no factor has anything to spread: what most steps find out, cheaply.

    Where a dimension has several factors there may be something: that takes a projection.
    """
    axes: dict[int, Axes] = {}
    for mapping, sharding in zip(rule.tensors, shardings, strict=True):
        for index, dim_mapping in enumerate(mapping.dimensions):
            factors = dim_mapping.factors
            if not any([directions[factor] for factor in factors]):
                continue
            # The sharding of a tensor that is all on one device has no dimensions.
            own: Axes = ()
            if sharding is not None and sharding.dimensions:
                own = sharding.dimensions[index].axes
            if len(factors) > 1 or axes.setdefault(factors[0], own) != own:
                return False
    return True


def _is_update(old: TensorSharding | None, new: TensorSharding) -> bool:
    return new != old if old is not None else not new.has_no_axes
