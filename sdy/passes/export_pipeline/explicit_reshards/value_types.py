"""The types and shardings of values, read once each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy as mlir_sdy

from sdy.ir.attributes import SHARDING
from sdy.ir.data_flow import DATA_FLOW_OPS, owning_op
from sdy.ir.op_names import BARRIER
from sdy.ir.sharding_access import SHARDING_FIELDS, set_sharding_of
from sdy.ir.value_sharding import sharding_of

if TYPE_CHECKING:
    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["ShardedType", "ValueTypes"]

_READ_ONE_BY_ONE = frozenset({*DATA_FLOW_OPS, *SHARDING_FIELDS})


class ShardedType(NamedTuple):
    """The type of a value and the attribute that says how it is sharded; None without one."""

    type: ir.Type
    sharding: ir.Attribute | None


class ValueTypes:
    """The types and shardings of the values of a module while reshards are inserted.

    There is a number for each distinct pair, so that a tuple of them is a cheap key.
    """

    def __init__(self, module: IndexedModule) -> None:
        self._codec: AttributeCodec = module.codec
        self._of_value: dict[ir.Value, int] = {}
        self._numbers: dict[tuple[ir.Type, ir.Attribute | None], int] = {}
        self._types: list[ShardedType] = []
        self._lists: dict[ir.Attribute, list[ir.Attribute]] = {}
        barriers = [module.late_ops[number] for number in module.numbers(BARRIER)]
        self._barriers = {op.result: op for op in barriers}

    def type(self, number: int) -> ShardedType:
        """Return the type and sharding of a number."""
        return self._types[number]

    def of(self, value: ir.Value) -> int:
        """Return the number of the type and sharding of a value."""
        known = self._of_value.get(value)
        if known is None:
            known = self._read(value)
        return known

    def of_operands(self, op: ir.Operation) -> tuple[int, ...]:
        """Return the numbers of the operands of an op."""
        known = self._of_value
        return tuple(
            [known[value] if value in known else self._read(value) for value in op.operands]
        )

    def of_sources(self, op: ir.Operation, operands: tuple[int, ...]) -> tuple[int, ...]:
        """Return the numbers of what the operands are behind propagation barriers."""
        if not self._barriers:
            return operands
        return tuple([self.of(self._behind_barriers(value)) for value in op.operands])

    def of_results(self, op: ir.Operation, name: str) -> tuple[int, ...]:
        """Return the numbers of the results of an op of that name."""
        results = op.results
        if name in _READ_ONE_BY_ONE:
            return tuple([self.of(value) for value in results])
        attribute = op.attributes.get(SHARDING)
        shardings = None if attribute is None else self._list(attribute)
        numbers: list[int] = []
        for index, value in enumerate(results):
            number = self._number(value.type, None if shardings is None else shardings[index])
            self._of_value[value] = number
            numbers.append(number)
        return tuple(numbers)

    def set_sharding(self, value: ir.Value, sharding: TensorSharding) -> None:
        """Change the sharding of a value; others of the same op may become open by that."""
        set_sharding_of(value, sharding, self._codec)
        for result in owning_op(value).results:
            self.forget(result)

    def add(self, value: ir.Value, sharding: ir.Attribute) -> None:
        """Tell of a new value, which has that sharding."""
        self._of_value[value] = self._number(value.type, sharding)

    def forget(self, value: ir.Value) -> None:
        """Read a value anew when it is asked for again; a must before its op is erased."""
        self._of_value.pop(value, None)

    def _read(self, value: ir.Value) -> int:
        if isinstance(value, ir.OpResult):
            op = value.owner.operation
            name = op.name
            if name not in _READ_ONE_BY_ONE:
                self.of_results(op, name)
                return self._of_value[value]
        sharding = sharding_of(value, self._codec)
        attribute = None if sharding is None else self._codec.attribute(sharding)
        number = self._of_value[value] = self._number(value.type, attribute)
        return number

    def _number(self, type_: ir.Type, sharding: ir.Attribute | None) -> int:
        pair = type_, sharding
        number = self._numbers.get(pair)
        if number is None:
            number = self._numbers[pair] = len(self._types)
            self._types.append(ShardedType(type_, sharding))
        return number

    def _behind_barriers(self, value: ir.Value) -> ir.Value:
        while value in self._barriers:
            value = self._barriers[value].operands[0]
        return value

    def _list(self, attribute: ir.Attribute) -> list[ir.Attribute]:
        known = self._lists.get(attribute)
        if known is None:
            known = list(mlir_sdy.TensorShardingPerValueAttr(attribute).shardings)
            self._lists[attribute] = known
        return known
