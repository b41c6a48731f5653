"""One step of propagation: make the shardings of an op's tensors agree.

A step depends on nothing but the op's rule and the shardings it meets, so it is taken once per
distinct case and looked up ever after.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdy.passes.propagation.projection import Projection
from sdy.passes.propagation.strategies import Strategy, propagate_factors

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding import TensorSharding
    from sdy.dialect.sharding_rule import OpShardingRule
    from sdy.passes.propagation.direction import Direction
    from sdy.passes.propagation.op_priorities import Flow

__all__ = ["Change", "OpClass", "common_mesh", "take_step"]

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


def take_step(
    op: OpClass,
    strategy: Strategy,
    directions: Sequence[Direction],
    shardings: Sequence[TensorSharding | None],
) -> tuple[Change, ...]:
    """Return the new shardings of an op's tensors, by position, where they change.

    Args:
      op: the op's class.
      strategy: how conflicts are met.
      directions: for each factor of the rule, where its axes may go.
      shardings: those of the operands, then of the results.

    """
    if _all_agree(op.rule, directions, shardings):
        return ()
    mesh = common_mesh(shardings)
    if mesh is None or mesh.is_maximal:
        return ()
    projection = Projection.build(shardings, op.rule, mesh)
    changed = propagate_factors(
        strategy,
        projection,
        directions,
        op.rule,
        mesh,
        is_elementwise=op.is_elementwise,
        conservative=op.conservative,
    )
    return tuple(
        (position, new)
        for position, (tensor, mapping, old) in enumerate(
            zip(projection.tensors(), op.rule.tensors, shardings, strict=True)
        )
        if changed[position]
        and _is_update(old, new := tensor.to_sharding(mapping, op.rule.factor_sizes, mesh))
    )


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
            own = sharding.dimensions[index].axes if sharding is not None else ()
            if len(factors) > 1 or axes.setdefault(factors[0], own) != own:
                return False
    return True


def _is_update(old: TensorSharding | None, new: TensorSharding) -> bool:
    return new != old if old is not None else not new.has_no_axes
