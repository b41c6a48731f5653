"""Lets calls share a function again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from jaxlib.mlir.dialects import sdy as mlir_sdy

from sdy.ir.call_graph import ORIGINAL_NAME, callee_name, original_function_name, set_callee
from sdy.ir.function_shardings import argument_shardings, result_shardings
from sdy.ir.op_names import CALL, FUNCTION
from sdy.ir.symbols import symbol_name
from sdy.passes.base import Pass, option

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jaxlib.mlir import ir

    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["UnflattenCallGraph"]

_MANUAL_AXES = "sdy.func_manual_axes"


@dataclass(frozen=True, slots=True)
class UnflattenCallGraph(Pass):
    """Lets calls of copies of one function call a single one, where shardings are equal.

    Functions are copies of one where `sdy.original_func_name` says so. Copies with the same
    manual axes and the same shardings of arguments and results are one again: all calls then
    call the first one. The others stay, unused; `symbol-dce` takes them away.
    """

    name: ClassVar[str] = "sdy-unflatten-call-graph"
    dedup_functions_fully: bool = option(
        False,
        "Whether all copies become one whatever their shardings: the one that is called most.",
    )

    def run(self, module: IndexedModule) -> None:
        """Point the calls to the functions that stay; functions forget what they are copies of."""
        functions = {symbol_name(op): op for op in module.ops(FUNCTION)}
        copies = _copies(functions, module)
        kept = self._kept_functions(copies, module)
        for call in module.ops(CALL):
            callee = callee_name(call)
            chosen = kept[self._key(copies[callee])]
            if chosen != callee:
                set_callee(call, chosen)
        for function in functions.values():
            for field in (ORIGINAL_NAME, _MANUAL_AXES):
                if field in function.attributes:
                    del function.attributes[field]

    def _key(self, copy: _Copy) -> _Copy:
        return copy.without_shardings() if self.dedup_functions_fully else copy

    def _kept_functions(self, copies: dict[str, _Copy], module: IndexedModule) -> dict[_Copy, str]:
        """Return for each key the function that all calls of functions with that key call."""
        callees = [callee_name(call) for call in module.ops(CALL)]
        kept: dict[_Copy, str] = {}
        for name in callees:
            kept.setdefault(self._key(copies[name]), name)
        if self.dedup_functions_fully:
            self._prefer_frequent(callees, copies, kept)
        return kept

    def _prefer_frequent(
        self, callees: Iterable[str], copies: dict[str, _Copy], kept: dict[_Copy, str]
    ) -> None:
        """Keep the function that is called most; of several, the one that was so first."""
        calls: Counter[_Copy] = Counter()
        for name in callees:
            copy = copies[name]
            calls[copy] += 1
            key = self._key(copy)
            if calls[copy] > calls[copies[kept[key]]]:
                kept[key] = name


class _Copy(NamedTuple):
    """What decides whether two functions are the same copy of one.

    Attributes:
      original: the name of the function that both are copies of.
      manual_axes: the attribute, None where there is none.
      argument_shardings: None where no argument has one.
      result_shardings: None where no result has one.

    """

    original: str
    manual_axes: ir.Attribute | None
    argument_shardings: tuple[TensorSharding, ...] | None = None
    result_shardings: tuple[TensorSharding, ...] | None = None

    def without_shardings(self) -> _Copy:
        return _Copy(self.original, self.manual_axes)


def _copies(functions: dict[str, ir.Operation], module: IndexedModule) -> dict[str, _Copy]:
    """Return the key of every function that is called."""
    called = {callee_name(call) for call in module.ops(CALL)}
    return {name: _copy(functions[name], module.codec) for name in called}


def _copy(function: ir.Operation, codec: AttributeCodec) -> _Copy:
    return _Copy(
        original_function_name(function),
        _manual_axes(function),
        argument_shardings(function, codec),
        result_shardings(function, codec),
    )


def _manual_axes(function: ir.Operation) -> ir.Attribute | None:
    if _MANUAL_AXES not in function.attributes:
        return None
    attribute = function.attributes[_MANUAL_AXES]
    return attribute if mlir_sdy.ManualAxesAttr.isinstance(attribute) else None
