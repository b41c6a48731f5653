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
        calls = module.read_ops(CALL)
        places = [n for n, call in enumerate(calls) if SHARDING not in call.attributes]
        if not places:
            return
        functions = {symbol_name(op): op for op in module.root_ops() if op.name == FUNCTION}
        known: dict[str, ir.Attribute | None] = {}
        changed: list[int] = []
        for place in places:
            name = callee_name(calls[place])
            if name not in known:
                shardings = result_shardings(functions[name], module.codec)
                known[name] = shardings and module.codec.list_attribute(shardings)
            attribute = known[name]
            if attribute is not None:
                calls[place].attributes[SHARDING] = attribute
                changed.append(place)
        module.attributes_changed(CALL, changed)
