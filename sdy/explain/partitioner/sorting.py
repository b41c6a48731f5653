"""Sorts and concatenations: what splits the dimension they work along splits another meanwhile."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sdy.dialect.axes import axes_size
from sdy.dialect.sharding import DimensionSharding
from sdy.explain.partitioner.op_case import OpCase, OpExchange, reshard_tensor

if TYPE_CHECKING:
    from sdy.dialect.sharding import TensorSharding
    from sdy.dialect.sharding_rule import OpShardingRule

__all__ = ["split_along_one_dimension"]


def split_along_one_dimension(case: OpCase, _rule: OpShardingRule) -> tuple[OpExchange, ...]:
    """Move the axes of that dimension behind those of another one, and back.

    That is the first one that can be split so far; where there is none, the axes are given up.
    """
    (dim,) = case.detail.dims or (None,)
    if dim is None:
        return ()
    shape = case.results[0].shape
    during = _moved(case.results[0].sharding, dim, shape)
    found: list[OpExchange] = []
    for index, tensor in enumerate(case.operands):
        found += reshard_tensor("operand", index, tensor, tensor.sharding, during)
    for index, tensor in enumerate(case.results):
        found += reshard_tensor("result", index, tensor, during, tensor.sharding)
    return tuple(found)


def _moved(sharding: TensorSharding, dim: int, shape: tuple[int, ...]) -> TensorSharding:
    axes = sharding.dimensions[dim].axes
    if not axes:
        return sharding
    mesh = sharding.bound_mesh
    dimensions = list(sharding.dimensions)
    dimensions[dim] = DimensionSharding()
    for other, (dimension, size) in enumerate(zip(dimensions, shape, strict=True)):
        parts = axes_size((*dimension.axes, *axes), mesh)
        if other != dim and size % parts == 0:
            dimensions[other] = DimensionSharding((*dimension.axes, *axes))
            break
    return replace(sharding, dimensions=tuple(dimensions))
