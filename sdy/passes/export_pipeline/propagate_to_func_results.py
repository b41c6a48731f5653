"""Gives the results of functions the shardings of what they return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.ir.data_flow import region_terminator
from sdy.ir.function_shardings import set_result_shardings
from sdy.ir.main_function import main_function
from sdy.ir.op_names import FUNCTION, RETURN
from sdy.ir.value_sharding import sharding_of
from sdy.passes.base import Pass

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["PropagateToFuncResults"]


@dataclass(frozen=True, slots=True)
class PropagateToFuncResults(Pass):
    """Gives each result of a function the sharding of the value that is returned, or none.

    Not those of the main function: it is the one named main, or the only one.
    """

    name: ClassVar[str] = "sdy-propagate-to-func-results"

    def run(self, module: IndexedModule) -> None:
        """Set the shardings in place; an error where none of several functions is main."""
        main = main_function(module)
        for function in module.ops(FUNCTION):
            if function != main:
                _propagate_to_results(function, module.codec)


def _propagate_to_results(function: ir.Operation, codec: AttributeCodec) -> None:
    body = function.regions[0]
    if len(body.blocks):
        terminator = region_terminator(body)
        if terminator.name == RETURN:
            returned = [sharding_of(value, codec) for value in terminator.operands]
            set_result_shardings(function, returned, codec)
