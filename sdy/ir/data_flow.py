"""Data-flow edges: which values of a region op are one tensor, whatever their names.

An edge joins sources (operands of the op, operands of its terminators) to targets (results,
block arguments). One target owns the edge; an `sdy.data_flow_edge` on the owner holds the
sharding of all targets. The idea is Shardy's `ShardableDataFlowOpInterface`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from jaxlib.mlir import ir

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "CASE",
    "DATA_FLOW_EDGE",
    "DATA_FLOW_OPS",
    "MANUAL_COMPUTATION",
    "NAMED_COMPUTATION",
    "OPTIMIZATION_BARRIER",
    "WHILE",
    "OperandPlace",
    "edge_on",
    "edge_owner_of_target",
    "edge_source_places",
    "non_owner_targets",
    "owning_op",
    "region_terminator",
]

OperandPlace: TypeAlias = "tuple[ir.Operation, int]"

DATA_FLOW_EDGE = "sdy.data_flow_edge"
MANUAL_COMPUTATION = "sdy.manual_computation"
NAMED_COMPUTATION = "sdy.named_computation"
WHILE = "stablehlo.while"
CASE = "stablehlo.case"
OPTIMIZATION_BARRIER = "stablehlo.optimization_barrier"

_BLOCK_ARGUMENT_OWNERS = frozenset({MANUAL_COMPUTATION, NAMED_COMPUTATION})
DATA_FLOW_OPS = _BLOCK_ARGUMENT_OWNERS | {WHILE, CASE, OPTIMIZATION_BARRIER}


def region_terminator(region: ir.Region) -> ir.Operation:
    """Return the last op of the first block of a region."""
    return region.blocks[0].operations[-1].operation


def _while_sources(op: ir.Operation, index: int) -> list[OperandPlace]:
    return [(op, index), (region_terminator(op.regions[1]), index)]


def _case_sources(op: ir.Operation, index: int) -> list[OperandPlace]:
    return [(region_terminator(branch), index) for branch in op.regions]


def _barrier_sources(op: ir.Operation, index: int) -> list[OperandPlace]:
    return [(op, index)]


def _body_sources(op: ir.Operation, index: int) -> list[OperandPlace]:
    return [(region_terminator(op.regions[0]), index)]


_RESULT_SOURCES: dict[str, Callable[[ir.Operation, int], list[OperandPlace]]] = {
    WHILE: _while_sources,
    CASE: _case_sources,
    OPTIMIZATION_BARRIER: _barrier_sources,
    MANUAL_COMPUTATION: _body_sources,
    NAMED_COMPUTATION: _body_sources,
}


def owning_op(value: ir.Value) -> ir.Operation:
    """Return the op that defines a result, or whose region has a block argument."""
    if isinstance(value, ir.BlockArgument):
        return value.owner.owner.operation
    return value.owner.operation


def edge_source_places(owner: ir.Value) -> list[OperandPlace]:
    """Return where the sources of the edge that `owner` owns are operands."""
    op = owning_op(owner)
    if isinstance(owner, ir.BlockArgument):
        return [(op, owner.arg_number)]
    return _RESULT_SOURCES[op.name](op, ir.OpResult(owner).result_number)


def non_owner_targets(owner: ir.Value) -> list[ir.Value]:
    """Return the targets, other than the owner, of the edge that `owner` owns."""
    op = owning_op(owner)
    if op.name != WHILE:
        return []
    index = ir.OpResult(owner).result_number
    return [region.blocks[0].arguments[index] for region in op.regions]


def edge_owner_of_target(target: ir.Value) -> ir.Value | None:
    """Return the owner of the edge that `target` is a target of; None where there is none."""
    op = owning_op(target)
    if op.name not in DATA_FLOW_OPS:
        return None
    if isinstance(target, ir.BlockArgument) and op.name not in _BLOCK_ARGUMENT_OWNERS:
        return op.results[target.arg_number] if op.name == WHILE else None
    return target


def edge_on(owner: ir.Value) -> ir.Operation | None:
    """Return the `sdy.data_flow_edge` that is the only user of `owner`; None otherwise."""
    uses = list(owner.uses)
    if len(uses) != 1:
        return None
    user: ir.Operation = uses[0].owner.operation
    return user if user.name == DATA_FLOW_EDGE else None
