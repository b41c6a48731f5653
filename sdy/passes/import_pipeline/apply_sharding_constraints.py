"""Lets sharding constraints dictate the sharding of what they constrain."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.dialect.sharding import TensorSharding
from sdy.ir.attributes import SHARDING_RULE
from sdy.ir.data_flow import (
    DATA_FLOW_EDGE,
    MANUAL_COMPUTATION,
    edge_on,
    edge_owner_of_target,
    owning_op,
)
from sdy.ir.data_flow_edges import insertion_point_after
from sdy.ir.op_names import CONSTRAINT, RETURN
from sdy.ir.sharding_access import set_sharding_of, shardable_value
from sdy.ir.types import rank
from sdy.ir.value_sharding import sharding_of
from sdy.passes.base import Pass, option
from sdy.passes.import_pipeline.constraint_notes import ConstraintNotes
from sdy.passes.propagation.debug_attributes import DebugAttributes, DebugOptions
from sdy.passes.propagation.rules.builder import pointwise_rule

if TYPE_CHECKING:
    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["ApplyShardingConstraints"]

_CONSTRAINING = frozenset({CONSTRAINT, MANUAL_COMPUTATION})


@dataclass(frozen=True, slots=True)
class ApplyShardingConstraints(Pass):
    """Copies the sharding of a constraint to its input where it dictates that.

    It does where the input has no sharding, the constraint is closed in every dimension, and no
    other constraint or manual computation asks for another sharding of the same input. The
    `in_shardings` of a manual computation are constraints too. An input that is the target of a
    data-flow edge is left as it is, since other targets would get the sharding too: its users
    use the constraint's result instead.

    Where constraints follow each other in a chain, and nothing else constrains the input of the
    chain, the later users of that input, in the same block, use the result of the chain; a
    `func.return` does not.
    """

    name: ClassVar[str] = "sdy-apply-sharding-constraints"
    debug_sharding_origins: bool = option(
        False, "Whether to write on values whose annotation each axis goes back to."
    )
    debug_propagation_edge_sharding: bool = option(
        False, "Whether to write on constraints which axes their input got from them."
    )

    def run(self, module: IndexedModule) -> None:
        """Apply the constraints in place."""
        has_manual = bool(module.ops(MANUAL_COMPUTATION))
        debug = self._debug_attributes(module)
        if debug is None and not has_manual and not module.read_ops(CONSTRAINT):
            return
        notes = ConstraintNotes(module, follows=debug is None and not has_manual)
        ops = _constraining_ops(module, has_manual=has_manual)
        numbers = range(len(ops)) if has_manual else module.numbers(CONSTRAINT)
        for number, op in zip(numbers, ops, strict=True):
            if op.name == CONSTRAINT:
                _redirect_to_tail(number, op, module.codec, notes)
                is_applied = _apply_constraint(number, op, module.codec, notes)
                if debug is not None and is_applied:
                    debug.constraint_applied(number, op)
            else:
                _apply_in_shardings(op, module.codec, notes)
        notes.finish()
        if debug is not None:
            debug.write()

    def _debug_attributes(self, module: IndexedModule) -> DebugAttributes | None:
        options = DebugOptions(self.debug_sharding_origins, self.debug_propagation_edge_sharding)
        return DebugAttributes(module, options) if options else None


def _constraining_ops(module: IndexedModule, *, has_manual: bool) -> list[ir.Operation]:
    """Return constraints and manual computations, those in the body of one before it."""
    if not has_manual:
        return module.read_ops(CONSTRAINT)
    return [op for op in module.walk(ir.WalkOrder.POST_ORDER) if op.name in _CONSTRAINING]


def _users(value: ir.Value) -> list[ir.Operation]:
    return [use.owner.operation for use in value.uses]


# Chains of constraints.


def _redirect_to_tail(
    number: int, head: ir.Operation, codec: AttributeCodec, notes: ConstraintNotes
) -> None:
    """Let later users of the input of a chain use the chain's result."""
    tail = _tail_of_chain(head, codec)
    if tail is None:
        return
    block = tail.block
    redirected: list[int] = []
    for place, use in enumerate(list(head.operands[0].uses)):
        user = use.owner.operation
        if (
            user != head
            and user.name != RETURN
            and user.block == block
            and tail.is_before_in_block(user)
        ):
            user.operands[use.operand_number] = tail.result
            redirected.append(place)
    notes.redirected(number, tail, redirected)


def _tail_of_chain(head: ir.Operation, codec: AttributeCodec) -> ir.Operation | None:
    """Return the last constraint of the chain that `head` starts; None where it starts none.

    All but the last of a chain have one use, and there are two or more.
    """
    constrained = head.operands[0]
    if (
        _is_constraint_result(constrained)
        or sharding_of(constrained, codec) is not None
        or any(user.name in _CONSTRAINING and user != head for user in _users(constrained))
    ):
        return None
    tail = head
    users = _users(tail.result)
    while len(users) == 1 and users[0].name == CONSTRAINT:
        tail = users[0]
        users = _users(tail.result)
    is_last = all(user.name not in _CONSTRAINING for user in users)
    return tail if tail != head and is_last else None


def _is_constraint_result(value: ir.Value) -> bool:
    return not isinstance(value, ir.BlockArgument) and owning_op(value).name == CONSTRAINT


# One constraint.


def _apply_constraint(
    number: int, op: ir.Operation, codec: AttributeCodec, notes: ConstraintNotes
) -> bool:
    """Apply a constraint; return whether its input has got the sharding."""
    constrained = op.operands[0]
    sharding = codec.sharding(op.attributes["sharding"])
    if not _is_dictated(constrained, sharding, codec):
        return False
    if _is_on_edge(constrained):
        _move_after(op, constrained)
        notes.moved(number)
        _use_constraint(constrained, op, sharding, codec)
        if sharding.unreduced:
            notes.lose()
        return False
    _set_rule(op, codec)
    place = shardable_value(constrained)
    notes.applied(number, None if place is None else owning_op(place))
    set_sharding_of(constrained, sharding, codec)
    return True


def _apply_in_shardings(op: ir.Operation, codec: AttributeCodec, notes: ConstraintNotes) -> None:
    """Apply the constraints that a manual computation is."""
    for number, sharding in enumerate(codec.shardings(op.attributes["in_shardings"])):
        # Read anew, as a constraint may have come before it.
        constrained = op.operands[number]
        if not _is_dictated(constrained, sharding, codec):
            continue
        notes.lose()
        if _is_on_edge(constrained):
            constraint = _create_constraint(constrained, sharding, op.location, codec)
            _use_constraint(constrained, constraint, sharding, codec)
        else:
            set_sharding_of(constrained, sharding, codec)


def _is_dictated(value: ir.Value, sharding: TensorSharding, codec: AttributeCodec) -> bool:
    return (
        all(dimension.is_closed for dimension in sharding.dimensions)
        and shardable_value(value) is not None
        and sharding_of(value, codec) is None
        and all(asked == sharding for asked in _asked_shardings(value, codec))
    )


def _asked_shardings(value: ir.Value, codec: AttributeCodec) -> list[TensorSharding]:
    """Return what constraints and manual computations ask of a value."""
    asked: list[TensorSharding] = []
    for use in value.uses:
        user = use.owner.operation
        if user.name == CONSTRAINT:
            asked.append(codec.sharding(user.attributes["sharding"]))
        elif user.name == MANUAL_COMPUTATION:
            asked.append(codec.shardings(user.attributes["in_shardings"])[use.operand_number])
    return asked


def _is_on_edge(value: ir.Value) -> bool:
    """Return whether a value is a data-flow edge, or a target of one."""
    if not isinstance(value, ir.BlockArgument) and owning_op(value).name == DATA_FLOW_EDGE:
        return True
    owner = edge_owner_of_target(value)
    return owner is not None and edge_on(owner) is not None


def _move_after(op: ir.Operation, value: ir.Value) -> None:
    if not isinstance(value, ir.BlockArgument):
        op.move_after(owning_op(value))
        return
    first = value.owner.operations[0].operation
    if first != op:
        op.move_before(first)


def _create_constraint(
    value: ir.Value, sharding: TensorSharding, location: ir.Location, codec: AttributeCodec
) -> ir.Operation:
    return ir.Operation.create(
        CONSTRAINT,
        results=[value.type],
        operands=[value],
        attributes={"sharding": codec.attribute(sharding)},
        loc=location,
        ip=insertion_point_after(value),
    )


def _use_constraint(
    value: ir.Value, constraint: ir.Operation, sharding: TensorSharding, codec: AttributeCodec
) -> None:
    """Let all users of `value` but the constraint use the constraint."""
    value.replace_all_uses_except(constraint.result, constraint)
    if sharding.unreduced:
        # These do not propagate, so they must be said of the value itself.
        fully_open = TensorSharding.fully_open(sharding.mesh, rank(value.type))
        set_sharding_of(value, replace(fully_open, unreduced=sharding.unreduced), codec)


def _set_rule(constraint: ir.Operation, codec: AttributeCodec) -> None:
    if SHARDING_RULE not in constraint.attributes:
        rule = pointwise_rule(constraint)
        if rule is not None:
            constraint.attributes[SHARDING_RULE] = codec.rule_attribute(rule)
