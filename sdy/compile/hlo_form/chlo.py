"""Ops of the CHLO dialect: some are ops of HLO too, the others are made of several.

There are sharding rules for none of them, but for the custom calls that stand for the former
once XLA has read a program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext

from sdy.ir.attributes import SHARDING
from sdy.ir.op_names import FUNCTION
from sdy.ir.replacement import create_for
from sdy.passes.pipeline import run_pipeline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.ir.indexed_module import IndexedModule

__all__ = ["chlo_to_custom_calls", "decompose_chlo"]

_DIALECT = "chlo."
_TOP_K, _ERF = "chlo.top_k", "chlo.erf"
_TARGETS = {_TOP_K: "mhlo.topk", _ERF: "mhlo.erf"}
# These are no compositions of other ops.
_KEPT = frozenset({*_TARGETS, "chlo.constant", "chlo.ragged_dot", "chlo.scan"})


def chlo_to_custom_calls(module: IndexedModule, platform: str) -> None:
    """Replace ops by the custom calls that XLA reads as its own ops of these names."""
    for name, target in _TARGETS.items():
        # On GPUs top-k is a call of a library, of which XLA's Shardy knows nothing.
        if name == _TOP_K and platform == "gpu":
            continue
        for op in module.ops(name):
            _replace(op, _custom_call(op, target).results)
    module.ops_changed()


def decompose_chlo(module: IndexedModule) -> None:
    """Replace the ops that XLA makes of several as it reads a program by those several."""
    decompositions: dict[str, ir.Module] = {}
    for name, ops in module.ops_by_name.items():
        if not name.startswith(_DIALECT) or name in _KEPT:
            continue
        for op in ops:
            kind = _kind(op)
            if kind not in decompositions:
                decompositions[kind] = _decomposition(op)
            function = decompositions[kind].body.operations[0].operation
            with ir.InsertionPoint(op):
                results = _jax_mlir_ext.inlined_func_call(function, list(op.operands), op.location)
            _replace(op, results)
    module.ops_changed()


def _kind(op: ir.Operation) -> str:
    """Return what the decomposition of an op depends on."""
    types = [value.type for value in (*op.operands, *op.results)]
    return f"{op.name} {ir.DictAttr.get(dict(op.attributes.items()))} {' '.join(map(str, types))}"


def _decomposition(op: ir.Operation) -> ir.Module:
    """Return a module with one function that does what an op does, without it."""
    module = ir.Module.create(op.location)
    inputs = [operand.type for operand in op.operands]
    outputs = [result.type for result in op.results]
    function = ir.Operation.create(
        FUNCTION,
        attributes={
            "sym_name": ir.StringAttr.get("decomposition"),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(inputs, outputs)),
        },
        regions=1,
        loc=op.location,
        ip=ir.InsertionPoint(module.body),
    )
    block = function.regions[0].blocks.append(*inputs)
    with ir.InsertionPoint(block):
        clone = op.clone()
        for index, argument in enumerate(block.arguments):
            clone.operands[index] = argument
        ir.Operation.create("func.return", operands=list(clone.results), loc=op.location)
    return run_pipeline(module, "chlo-legalize-to-stablehlo")


def _custom_call(op: ir.Operation, target: str) -> ir.Operation:
    options = (
        {"k": op.attributes["k"], "largest": ir.BoolAttr.get(True)} if "k" in op.attributes else {}
    )
    attributes = {
        "call_target_name": ir.StringAttr.get(target),
        "mhlo.attributes": ir.DictAttr.get(options),
        "mhlo.version": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 1),
    }
    if SHARDING in op.attributes:
        attributes[SHARDING] = op.attributes[SHARDING]
    return create_for(op, "stablehlo.custom_call", attributes)


def _replace(op: ir.Operation, results: Sequence[ir.Value]) -> None:
    for old, new in zip(op.results, results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()
