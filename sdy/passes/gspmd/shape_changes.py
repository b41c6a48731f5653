"""Custom calls that turn whole tensors into shards and back, and the constraints around them."""

from __future__ import annotations

from jaxlib.mlir import ir

from sdy.ir.attributes import SHARDING
from sdy.ir.op_names import MHLO_COPY
from sdy.passes.gspmd.xla_names import SHARD_TO_FULL, SHARDING_TARGET, target_of

__all__ = ["constraint_on", "is_constraint", "only_user", "outer_result", "producer"]


def producer(value: ir.Value, *targets: str) -> ir.Operation | None:
    """Return the custom call with one of those targets that a value is the result of, if any."""
    if isinstance(value, ir.BlockArgument):
        return None
    op = value.owner.operation
    return op if target_of(op) in targets else None


def constraint_on(value: ir.Value) -> ir.Operation | None:
    """Return the copy or `@Sharding` custom call that a value is the result of, if any."""
    if isinstance(value, ir.BlockArgument):
        return None
    return value.owner.operation if is_constraint(value.owner.operation) else None


def is_constraint(op: ir.Operation) -> bool:
    """Return whether an op is a copy or a `@Sharding` custom call with a sharding."""
    is_kind = op.name == MHLO_COPY or target_of(op) == SHARDING_TARGET
    return is_kind and SHARDING in op.attributes


def only_user(value: ir.Value) -> ir.Operation | None:
    """Return the op that uses a value, where there is one use."""
    users = [use.owner.operation for use in value.uses]
    return users[0] if len(users) == 1 else None


def outer_result(result: ir.Value) -> ir.Operation | None:
    """Return the `@SPMDShardToFullShape` on a result, be it behind a constraint; None if none."""
    user = only_user(result)
    if user is not None and is_constraint(user):
        user = only_user(user.results[0])
    return user if user is not None and target_of(user) == SHARD_TO_FULL else None
