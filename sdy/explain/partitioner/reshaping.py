"""Reshapes: split as the result is where the operand can be split so, else as the operand is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sdy.explain.partitioner.factor_axes import axes_of_tensor
from sdy.explain.partitioner.op_case import (
    OpCase,
    OpExchange,
    carry_out,
    sharding_by_factors,
)
from sdy.explain.partitioner.tiling import tiling_of

if TYPE_CHECKING:
    from sdy.dialect.sharding_rule import OpShardingRule

__all__ = ["split_reshape"]


def split_reshape(case: OpCase, rule: OpShardingRule) -> tuple[OpExchange, ...]:
    """Return the exchanges of a reshape."""
    for index in (1, 0):
        axes = axes_of_tensor(case, rule, index)
        tilings = [tiling_of(sharding_by_factors(case, rule, i, axes)) for i in (0, 1)]
        is_kept = tilings[index] == tiling_of(case.tensors[index].sharding)
        if is_kept and math.prod(tilings[0].dims) == math.prod(tilings[1].dims):
            return carry_out(case, rule, axes)
    return carry_out(case, rule, axes)
