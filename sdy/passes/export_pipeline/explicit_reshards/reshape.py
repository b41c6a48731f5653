"""A reshape between shapes of which some axis divides neither: the axes are dealt out anew."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sdy.dialect.axes import greatest_common_prefix, join_axes
from sdy.passes.export_pipeline.explicit_reshards.common_axes import set_axes, sharded_size
from sdy.passes.propagation.projection import Projection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding_rule import OpShardingRule, TensorMapping
    from sdy.passes.export_pipeline.explicit_reshards.common_axes import AxesPerFactor
    from sdy.passes.propagation.projection import FactorSharding, TensorFactors

__all__ = ["agree_on_reshape"]


def agree_on_reshape(projection: Projection, rule: OpShardingRule, mesh: Mesh) -> AxesPerFactor:
    """Make operand and result of a reshape agree, in place; return the axes of each factor.

    The axes of the one that is split into more parts are dealt out to the factors of both; of
    each factor the prefix stays on which the two agree.
    """
    tensors = list(projection.tensors())
    operand, result = tensors
    prefers_operand = sharded_size(operand, mesh) >= sharded_size(result, mesh)
    axes = _all_axes(operand if prefers_operand else result)
    for tensor, mapping in zip(tensors, rule.tensors, strict=True):
        _deal_out(axes, tensor, mapping, rule.factor_sizes, mesh)
    built = [
        tensor.to_sharding(mapping, rule.factor_sizes, mesh)
        for tensor, mapping in zip(tensors, rule.tensors, strict=True)
    ]
    common = _common_prefixes(Projection.build(built, rule, mesh), rule)
    for factor, prefix in enumerate(common):
        for tensor in tensors:
            set_axes(tensor, factor, prefix)
    return common


def _all_axes(tensor: TensorFactors) -> list[AxisRef]:
    shardings = (tensor.factors[factor] for factor in sorted(tensor.factors))
    return [axis for sharding in shardings for axis in sharding.axes + sharding.overflow]


def _deal_out(
    axes: Sequence[AxisRef],
    tensor: TensorFactors,
    mapping: TensorMapping,
    factor_sizes: Sequence[int],
    mesh: Mesh,
) -> None:
    """Shard the factors of a tensor anew: each axis goes to the first ones that it divides.

    What no factor can take overflows in the last one.
    """
    order = [f for d in mapping.dimensions for f in d.factors if f in tensor.factors]
    shardings = [tensor.factors[factor] for factor in order]
    room = [factor_sizes[factor] for factor in order]
    for sharding in shardings:
        sharding.axes = sharding.overflow = ()
    left = list(axes)
    while left:
        if not _place(left, shardings, room, mesh):
            for axis in left:
                last = shardings[-1]
                last.overflow = join_axes(last.overflow, (axis,), mesh)
            return


def _place(
    left: list[AxisRef], shardings: Sequence[FactorSharding], room: list[int], mesh: Mesh
) -> bool:
    """Give the first of the axes left, or parts of it, to factors; return whether one took any."""
    taken = False
    for index, sharding in enumerate(shardings):
        size = left[0].size(mesh)
        common = math.gcd(room[index], size)
        if room[index] <= 1 or (common == 1 and size != 1):
            continue
        taken = True
        room[index] //= common
        if common == size:
            sharding.axes = join_axes(sharding.axes, (left.pop(0),), mesh)
            return True
        part, left[0] = left[0].split(common, mesh)
        sharding.axes = join_axes(sharding.axes, (part,), mesh)
    return taken


def _common_prefixes(projection: Projection, rule: OpShardingRule) -> AxesPerFactor:
    common: AxesPerFactor = []
    for factor in range(rule.factor_count):
        holders = [t.factors[factor] for t in projection.tensors() if factor in t.factors]
        prefix = holders[0].axes if holders else ()
        for sharding in holders[1:]:
            prefix = greatest_common_prefix(prefix, sharding.axes)
        common.append(prefix)
    return common
