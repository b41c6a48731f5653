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
    from collections.abc import Iterable, Sequence

    from jaxlib.mlir import ir

    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["UnflattenCallGraph"]

_MANUAL_AXES = "sdy.func_manual_axes"
_READ = ("function_type", "arg_attrs", "res_attrs")


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
        ops = module.late_ops
        functions = {symbol_name(ops[n]): ops[n] for n in module.numbers(FUNCTION)}
        calls = [ops[number] for number in module.numbers(CALL)]
        callees = [callee_name(call) for call in calls]
        copies = _Copies(module.codec, are_all_one=self.dedup_functions_fully)
        for name in dict.fromkeys(callees):
            copies.add(name, functions[name])
        kept = self._kept_functions(callees, copies)
        for call, callee in zip(calls, callees, strict=True):
            chosen = kept[copies.keys[callee]]
            if chosen != callee:
                set_callee(call, chosen)
        for function in functions.values():
            for field in (ORIGINAL_NAME, _MANUAL_AXES):
                if field in function.attributes:
                    del function.attributes[field]
        module.properties_changed(FUNCTION)
        module.properties_changed(CALL)

    def _kept_functions(self, callees: Sequence[str], copies: _Copies) -> dict[int, str]:
        """Return for each key the function that all calls of functions with that key call."""
        kept: dict[int, str] = {}
        for name in callees:
            kept.setdefault(copies.keys[name], name)
        if self.dedup_functions_fully:
            _prefer_frequent(callees, copies, kept)
        return kept


def _prefer_frequent(callees: Iterable[str], copies: _Copies, kept: dict[int, str]) -> None:
    """Keep the function that is called most; of several, the one that was so first."""
    calls: Counter[int] = Counter()
    for name in callees:
        copy = copies.numbers[name]
        calls[copy] += 1
        key = copies.keys[name]
        if calls[copy] > calls[copies.numbers[kept[key]]]:
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


class _Copies:
    """The functions that are called, numbered so that equal copies have equal numbers.

    Attributes:
      numbers: for each function that of the copy that it is.
      keys: for each function a number that is equal for those that become one.

    """

    def __init__(self, codec: AttributeCodec, *, are_all_one: bool) -> None:
        self.numbers: dict[str, int] = {}
        self.keys: dict[str, int] = self.numbers
        if are_all_one:
            self.keys = {}
        self._codec = codec
        self._known: dict[_Copy, int] = {}
        self._read: dict[tuple[str | ir.Attribute | None, ...], int] = {}

    def add(self, name: str, function: ir.Operation) -> None:
        """Give a function its numbers."""
        original, axes = original_function_name(function), _manual_axes(function)
        fields = [function.attributes.get(field) for field in _READ]
        number = self._read.get((original, axes, *fields))
        if number is None:
            copy = _Copy(
                original,
                axes,
                argument_shardings(function, self._codec),
                result_shardings(function, self._codec),
            )
            number = self._read[original, axes, *fields] = self._number(copy)
        self.numbers[name] = number
        if self.keys is not self.numbers:
            self.keys[name] = self._number(_Copy(original, axes))

    def _number(self, copy: _Copy) -> int:
        return self._known.setdefault(copy, len(self._known))


def _manual_axes(function: ir.Operation) -> ir.Attribute | None:
    if _MANUAL_AXES not in function.attributes:
        return None
    attribute = function.attributes[_MANUAL_AXES]
    return attribute if mlir_sdy.ManualAxesAttr.isinstance(attribute) else None
