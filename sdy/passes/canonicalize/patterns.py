"""All patterns for sdy ops; where several of equal benefit match an op, the first one wins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sdy.passes.canonicalize import (
    all_to_all_fusion,
    inverse_collectives,
    manual_computation,
    noop_collectives,
    reduce_scatter_fusion,
    reshard_cse,
    reshard_of_reshard,
)

if TYPE_CHECKING:
    from sdy.passes.canonicalize.driver import Pattern

__all__ = ["PATTERNS"]

PATTERNS: Final[tuple[Pattern, ...]] = (
    manual_computation.unused_manual_computation_inputs,
    manual_computation.inline_redundant_manual_computation,
    reshard_of_reshard.reshard_of_reshard,
    reshard_cse.reshard_common_subexpression,
    noop_collectives.all_gather_noop,
    inverse_collectives.all_slice_of_all_gather,
    noop_collectives.all_slice_noop,
    reduce_scatter_fusion.reduce_scatter_fusion,
    noop_collectives.all_reduce_noop,
    inverse_collectives.all_reduce_of_replicated_to_unreduced,
    inverse_collectives.all_reduce_of_sharded_to_unreduced,
    all_to_all_fusion.all_to_all_fusion,
    noop_collectives.all_to_all_unused,
    noop_collectives.collective_permute_noop,
    noop_collectives.reduce_scatter_noop,
)
