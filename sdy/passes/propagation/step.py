"""One step of propagation: make the shardings of an op's tensors agree.

A step depends on nothing but the op's rule and the shardings it meets, so it is taken once per
distinct case and looked up ever after.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sdy.passes.propagation.direction import Direction
from sdy.passes.propagation.projection import Projection
from sdy.passes.propagation.strategies import propagate_factors

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding import TensorSharding
    from sdy.passes.propagation.step_case import StepCase

__all__ = ["Change", "common_mesh", "propagated", "take_step"]

_NOWHERE: Final = Direction.NONE  # Kept, because a member of an enum is slow to look up.

Change = tuple[int, "TensorSharding"]
Axes = tuple["AxisRef", ...]


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
        if mesh is common:
            continue
        if common is None or common.is_empty:
            common = mesh
        elif not mesh.is_empty and not mesh.equals(common):
            return None
    return common


def take_step(case: StepCase) -> tuple[Change, ...]:
    """Return the new shardings of an op's tensors, by position, where they change."""
    factors = _unsettled_factors(case)
    if not factors:
        return ()
    mesh = common_mesh(case.shardings)
    if mesh is None or not mesh.axes:  # As where all of a tensor is on one device.
        return ()
    projection, changed = _spread(case, factors, mesh)
    rule, tensors = case.op.rule, projection.tensors()
    changes: list[Change] = []
    for position, has_changed in enumerate(changed):
        if has_changed:
            old, mapping = case.shardings[position], rule.tensors[position]
            new = tensors[position].to_sharding(mapping, rule.factor_sizes, mesh)
            if _is_update(old, new):
                changes.append((position, new))
    return tuple(changes)


def propagated(case: StepCase, mesh: Mesh) -> tuple[Projection, list[bool]]:
    """Return the factor shardings after a step, and for each tensor whether they changed."""
    return _spread(case, _unsettled_factors(case), mesh)


def _spread(case: StepCase, factors: list[int], mesh: Mesh) -> tuple[Projection, list[bool]]:
    projection = Projection.build(case.shardings, case.op.rule, mesh)
    changed = propagate_factors(case.strategy, projection, factors, case.directions, case.op, mesh)
    return projection, changed


def _unsettled_factors(case: StepCase) -> list[int]:
    """Return the factors along which there may be something to spread, in order.

    Where all tensors that have a factor are sharded alike along it, there is nothing: most steps
    end here. How a sharded dimension of several factors splits them only a projection can tell.
    """
    rule = case.op.rule
    axes_of: list[Axes | None] = [None] * rule.factor_count
    is_unsettled = [False] * rule.factor_count
    are_settled = True
    for position, mapping in enumerate(rule.tensors):
        sharding = case.shardings[position]
        # The sharding of a tensor that is all on one device has no dimensions.
        dimensions = sharding.dimensions if sharding is not None else ()
        for index, dim_mapping in enumerate(mapping.dimensions):
            factors = dim_mapping.factors
            axes: Axes = dimensions[index].axes if dimensions else ()
            is_split = bool(axes) and len(factors) > 1
            for factor in factors:
                known = axes_of[factor]
                if known is None:
                    known = axes_of[factor] = axes
                if is_split or (known is not axes and known != axes):
                    is_unsettled[factor] = True
                    are_settled = False
    if are_settled:
        return []
    directions = case.directions
    return [
        factor
        for factor, unsettled in enumerate(is_unsettled)
        if unsettled and directions[factor] is not _NOWHERE
    ]


def _is_update(old: TensorSharding | None, new: TensorSharding) -> bool:
    return new != old if old is not None else not new.has_no_axes
