"""Makes the shardings of what goes into and comes out of functions divide their tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.dialect.manual_axes import add_free_axes, erase_manual_axes
from sdy.ir.attributes import SHARDING
from sdy.ir.data_flow import MANUAL_COMPUTATION
from sdy.ir.data_flow_edges import block_argument_edge_owners
from sdy.ir.op_names import CALL, FUNCTION
from sdy.ir.sharding_access import manual_axes
from sdy.ir.values import signature
from sdy.passes.base import Pass
from sdy.passes.export_pipeline.even_shardings import EvenShardings, all_evenly_sharded

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["UpdateNonDivisibleInputOutputShardings"]


@dataclass(frozen=True, slots=True)
class UpdateNonDivisibleInputOutputShardings(Pass):
    """Cuts shardings short where they do not divide a dimension.

    Of each dimension the longest prefix of its axes stays that divides it; a sub-axis may be
    the last. That is for arguments and results of functions, results of calls, and what goes
    into and comes out of manual computations: there, tensors are not padded.
    """

    name: ClassVar[str] = "sdy-update-non-divisible-input-output-shardings"

    def run(self, module: IndexedModule) -> None:
        """Shorten the shardings in place."""
        shardings, ops = EvenShardings(module.codec), module.late_ops
        for number in module.numbers(FUNCTION):
            type_ = signature(ops[number])
            shardings.update_signature(ops[number], "arg_attrs", type_.inputs)
            shardings.update_signature(ops[number], "res_attrs", type_.results)
        changes: dict[int, ir.Attribute] = {}
        for number in module.numbers(CALL):
            old = module.attribute(number, SHARDING)
            new = None if old is None else shardings.even_results(ops[number], old)
            if new is not None:
                changes[number] = new
        module.set_attributes(SHARDING, changes)
        computations = module.numbers(MANUAL_COMPUTATION)
        for number in computations:
            _update_arguments(ops[number], module.codec)
            shardings.update_results(ops[number], "out_shardings")
        module.properties_changed(FUNCTION)
        if computations:
            module.properties_changed(MANUAL_COMPUTATION)


def _update_arguments(computation: ir.Operation, codec: AttributeCodec) -> None:
    outer = codec.shardings(computation.attributes["in_shardings"])
    if not outer:
        return
    manual = manual_axes(computation)
    inner = [erase_manual_axes(sharding, manual) for sharding in outer]
    arguments = block_argument_edge_owners(computation)
    even = all_evenly_sharded(inner, (argument.type for argument in arguments))
    pairs = zip(outer, even, strict=True)
    updated = tuple(add_free_axes(old, new, manual) for old, new in pairs)
    computation.attributes["in_shardings"] = codec.list_attribute(updated)
