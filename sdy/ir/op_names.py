"""The names of the ops that are met in several places.

Those of data-flow edges, and of the ops that own such edges, are in `sdy.ir.data_flow`.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "ALL_GATHER",
    "ALL_REDUCE",
    "ALL_SLICE",
    "ALL_TO_ALL",
    "BARRIER",
    "CALL",
    "COLLECTIVE_PERMUTE",
    "CONSTRAINT",
    "FUNCTION",
    "FUNC_EDGE",
    "GROUP",
    "MESH",
    "MHLO_COPY",
    "MODULE",
    "REDUCE_SCATTER",
    "REPLICATED_TO_UNREDUCED",
    "RESHARD",
    "RETURN",
    "SDY_CONSTANT",
    "SDY_RETURN",
    "SHARDED_TO_UNREDUCED",
]

MODULE: Final = "builtin.module"
FUNCTION: Final = "func.func"
CALL: Final = "func.call"
RETURN: Final = "func.return"

MESH: Final = "sdy.mesh"
CONSTRAINT: Final = "sdy.sharding_constraint"
RESHARD: Final = "sdy.reshard"
GROUP: Final = "sdy.sharding_group"
BARRIER: Final = "sdy.propagation_barrier"
FUNC_EDGE: Final = "sdy.func_data_flow_edge"
SDY_CONSTANT: Final = "sdy.constant"
SDY_RETURN: Final = "sdy.return"

ALL_GATHER: Final = "sdy.all_gather"
ALL_REDUCE: Final = "sdy.all_reduce"
ALL_SLICE: Final = "sdy.all_slice"
ALL_TO_ALL: Final = "sdy.all_to_all"
COLLECTIVE_PERMUTE: Final = "sdy.collective_permute"
REDUCE_SCATTER: Final = "sdy.reduce_scatter"
REPLICATED_TO_UNREDUCED: Final = "sdy.replicated_to_unreduced"
SHARDED_TO_UNREDUCED: Final = "sdy.sharded_to_unreduced"

MHLO_COPY: Final = "mhlo.copy"
