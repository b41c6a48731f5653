"""The shardings of numbered values as attributes, wherever each kind of value keeps its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jaxlib.mlir.dialects import sdy as mlir_sdy

from sdy.ir.attributes import SHARDING
from sdy.ir.data_flow import DATA_FLOW_OPS
from sdy.ir.op_names import FUNCTION
from sdy.ir.sharding_access import WITH_OWN_FIELDS
from sdy.ir.signature_attributes import signature_entries
from sdy.ir.structure import NOTHING
from sdy.ir.value_sharding import sharding_of

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.ir.indexed_module import IndexedModule

__all__ = ["ValueAttributes"]

_READ_FROM_MLIR: Final = WITH_OWN_FIELDS | DATA_FLOW_OPS


class ValueAttributes:
    """The shardings of the values of a module, by the numbers of its last structure."""

    def __init__(self, module: IndexedModule) -> None:
        self._module = module
        self._structure = module.last_structure
        self._ops = module.late_ops
        self._lists: dict[ir.Attribute, list[ir.Attribute]] = {}
        self._signatures: dict[int, list[ir.Attribute | None]] = {}

    def get(self, value: int) -> ir.Attribute | None:
        """Return the `#sdy.sharding` of a value; None where it has none or cannot have one."""
        structure = self._structure
        op = structure.producers[value]
        if op == NOTHING:
            op, _, _, index = structure.arguments[value]
            if structure.names[op] == FUNCTION:
                return self._signature(op)[index]
            return self._read(value)
        if structure.names[op] in _READ_FROM_MLIR:
            return self._read(value)
        attribute = self._module.attribute(op, SHARDING)
        if attribute is None:
            return None
        return self.entries(attribute)[value - structure.results[op][0]]

    def _signature(self, function: int) -> list[ir.Attribute | None]:
        """Return the shardings of the arguments of a function."""
        known = self._signatures.get(function)
        if known is None:
            entries = signature_entries(self._ops[function], "arg_attrs")
            # It has no `get`.
            known = [entry[SHARDING] if SHARDING in entry else None for entry in entries]  # noqa: SIM401
            self._signatures[function] = known
        return known

    def entries(self, attribute: ir.Attribute) -> list[ir.Attribute]:
        """Return the `#sdy.sharding`s of a `#sdy.sharding_per_value`."""
        known = self._lists.get(attribute)
        if known is None:
            known = list(mlir_sdy.TensorShardingPerValueAttr(attribute).shardings)
            self._lists[attribute] = known
        return known

    def value(self, value: int) -> ir.Value:
        """Return the handle of a value."""
        structure = self._structure
        producer = structure.producers[value]
        if producer != NOTHING:
            return self._ops[producer].results[value - structure.results[producer][0]]
        op, region, block, index = structure.arguments[value]
        return self._ops[op].regions[region].blocks[block].arguments[index]

    def _read(self, value: int) -> ir.Attribute | None:
        structure = self._structure
        op = structure.producers[value]
        if op == NOTHING:
            op = structure.arguments[value][0]
        # The argument of a body may have the sharding of what the op takes.
        sources = [structure.producers[operand] for operand in structure.operands[op]]
        self._module.write_attributes([op, *(source for source in sources if source != NOTHING)])
        sharding = sharding_of(self.value(value), self._module.codec)
        return None if sharding is None else self._module.codec.attribute(sharding)
