"""Gives the results of functions the shardings of what they return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.ir.attributes import SHARDING
from sdy.ir.function_shardings import set_result_shardings
from sdy.ir.main_function import main_function
from sdy.ir.op_names import FUNCTION, RETURN
from sdy.ir.value_attributes import ValueAttributes
from sdy.passes.base import Pass

if TYPE_CHECKING:
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
        main = main_function(module, is_read_only=True)
        setter = _ResultShardings(module)
        for function in module.numbers(FUNCTION):
            if module.late_ops[function] != main:
                setter.set_results(function)
        module.properties_changed(FUNCTION)


class _ResultShardings:
    """Sets the shardings of functions' results, with functions by their numbers."""

    def __init__(self, module: IndexedModule) -> None:
        self._codec = module.codec
        self._structure = module.last_structure
        self._ops = module.late_ops
        self._values = ValueAttributes(module)
        self._fields: dict[tuple[ir.Attribute | None, ...], ir.Attribute] = {}

    def set_results(self, number: int) -> None:
        """Give the results of a function the shardings of what it returns."""
        structure = self._structure
        for _, _, terminator in structure.bodies.get(number, ())[:1]:
            if structure.names[terminator] == RETURN:
                returned = structure.operands[terminator]
                shardings = tuple([self._values.get(value) for value in returned])
                self._set(self._ops[number], shardings)

    def _set(self, function: ir.Operation, shardings: tuple[ir.Attribute | None, ...]) -> None:
        if "res_attrs" in function.attributes:
            read = [None if each is None else self._codec.sharding(each) for each in shardings]
            set_result_shardings(function, read, self._codec)
        elif any(sharding is not None for sharding in shardings):
            function.attributes["res_attrs"] = self._field(shardings)

    def _field(self, shardings: tuple[ir.Attribute | None, ...]) -> ir.Attribute:
        """Return the `res_attrs` of a function whose results have no other attributes."""
        known = self._fields.get(shardings)
        if known is None:
            entries = [{} if each is None else {SHARDING: each} for each in shardings]
            known = ir.ArrayAttr.get([ir.DictAttr.get(entry) for entry in entries])
            self._fields[shardings] = known
        return known
