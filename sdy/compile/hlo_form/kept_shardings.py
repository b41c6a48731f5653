"""Reshards where XLA, as it reads a program, would lose a sharding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.compile.hlo_form.broadcasts import BROADCAST
from sdy.ir.attributes import SHARDING
from sdy.ir.data_flow import region_terminator
from sdy.ir.op_names import RESHARD
from sdy.ir.value_sharding import sharding_of

if TYPE_CHECKING:
    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["keep_shardings"]

_BRANCHING = ("stablehlo.case", "stablehlo.if")


def keep_shardings(module: IndexedModule) -> None:
    """Add reshards to a module that was propagated, in place.

    A broadcast that adds nothing, which HLO has as a step of others, becomes one: XLA folds it. And
    what a branch returns is resharded in it: where a conditional has one result, the compilers for
    GPUs and TPUs give it a sharding of their own choice, one that a branch returns.
    """
    with module.context, ir.Location.unknown():
        for op in module.ops(BROADCAST):
            if op.operands[0].type == op.results[0].type:
                _reshard_instead(op, module)
        for name in _BRANCHING:
            for op in module.ops(name):
                _reshard_returned(op, module)
    module.ops_changed()


def _reshard_instead(op: ir.Operation, module: IndexedModule) -> None:
    sharding = sharding_of(op.results[0], module.codec)
    value = op.operands[0]
    if sharding is not None:
        value = _reshard(value, sharding, op, module)
    op.results[0].replace_all_uses_with(value)
    op.erase()


def _reshard_returned(op: ir.Operation, module: IndexedModule) -> None:
    if SHARDING not in op.attributes:
        return
    wanted = module.codec.shardings(op.attributes[SHARDING])
    for region in op.regions:
        terminator = region_terminator(region)
        for index, value in enumerate(terminator.operands):
            if wanted[index] != sharding_of(value, module.codec):
                terminator.operands[index] = _reshard(value, wanted[index], terminator, module)


def _reshard(
    value: ir.Value, sharding: TensorSharding, before: ir.Operation, module: IndexedModule
) -> ir.Value:
    return ir.Operation.create(
        RESHARD,
        results=[value.type],
        operands=[value],
        attributes={"sharding": module.codec.attribute(sharding)},
        loc=before.location,
        ip=ir.InsertionPoint(before),
    ).results[0]
