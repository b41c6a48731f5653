"""Gives calls the shardings of the results of the functions that they call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.ir.attributes import SHARDING
from sdy.ir.call_graph import callee_name
from sdy.ir.function_shardings import result_shardings
from sdy.ir.op_names import CALL, FUNCTION
from sdy.ir.symbols import symbol_name
from sdy.passes.base import Pass

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.ir.indexed_module import IndexedModule

__all__ = ["PropagateShardingFromFuncToCall"]


@dataclass(frozen=True, slots=True)
class PropagateShardingFromFuncToCall(Pass):
    """Gives a call without result shardings those of the results of the function.

    A call that has shardings keeps them, even where all of them are empty.
    """

    name: ClassVar[str] = "sdy-propagate-sharding-from-func-to-call"

    def run(self, module: IndexedModule) -> None:
        """Set the shardings in place."""
        calls = [call for call in module.read_ops(CALL) if SHARDING not in call.attributes]
        if not calls:
            return
        functions = {symbol_name(op): op for op in module.read_ops(FUNCTION)}
        known: dict[str, ir.Attribute | None] = {}
        for call in calls:
            name = callee_name(call)
            if name not in known:
                shardings = result_shardings(functions[name], module.codec)
                known[name] = shardings and module.codec.list_attribute(shardings)
            attribute = known[name]
            if attribute is not None:
                call.attributes[SHARDING] = attribute
                module.forget_structure()
