"""Whether a value may stand in for another: the collectives that use it check its sharding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sdy.ir.op_names import (
    ALL_GATHER,
    ALL_REDUCE,
    ALL_SLICE,
    ALL_TO_ALL,
    COLLECTIVE_PERMUTE,
    REDUCE_SCATTER,
    REPLICATED_TO_UNREDUCED,
    SHARDED_TO_UNREDUCED,
)
from sdy.ir.value_sharding import sharding_of
from sdy.passes.canonicalize.operations import users

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.attributes import AttributeCodec

__all__ = ["may_stand_in"]

_TAKE_ANY_VALUE: Final = frozenset({ALL_REDUCE, ALL_SLICE, REDUCE_SCATTER})
_NEED_A_SHARDING: Final = frozenset(
    {
        ALL_GATHER,
        ALL_TO_ALL,
        COLLECTIVE_PERMUTE,
        REPLICATED_TO_UNREDUCED,
        SHARDED_TO_UNREDUCED,
    }
)


def may_stand_in(sharding: TensorSharding | None, value: ir.Value, codec: AttributeCodec) -> bool:
    """Return whether all users of `value` accept one with `sharding` in its place.

    A rewrite may know that two values hold the same data in the same places, though one has its
    dimensions open or no sharding at all. Collectives are not valid on every such value.
    """
    names = {user.name for user in users(value)}
    if not names & (_TAKE_ANY_VALUE | _NEED_A_SHARDING):
        return True
    current = sharding_of(value, codec)
    if current is None or current == sharding:
        return True
    if sharding is None:
        return not names & _NEED_A_SHARDING and current.is_fully_replicated
    if sharding.mesh != current.mesh or not sharding.splits_alike(current):
        return False
    if REPLICATED_TO_UNREDUCED in names and sharding.dimensions != current.dimensions:
        return False
    unreduces = names & {REPLICATED_TO_UNREDUCED, SHARDED_TO_UNREDUCED}
    return not unreduces or sharding.unreduced == current.unreduced
