"""Changes every sharding in a module, each distinct one once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy as mlir_sdy

from sdy.ir.attributes import SHARDING
from sdy.ir.distinct_ops import distinct_ops
from sdy.ir.op_names import FUNCTION
from sdy.ir.sharding_access import REGION_OPS, SHARDING_FIELDS, WITH_OWN_FIELDS
from sdy.ir.signature_attributes import named_attributes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["distinct_shardings", "transform_shardings", "transform_signature"]


def distinct_shardings(module: IndexedModule) -> list[TensorSharding]:
    """Return the shardings of all arguments, results and values of a module, each once.

    Ops with equal attributes are looked at once.
    """
    found: list[TensorSharding] = []

    def look(sharding: TensorSharding) -> TensorSharding:
        found.append(sharding)
        return sharding

    structure, ops = module.structure, module.numbered_ops
    walker = _Walker(module.codec, look)
    for number in distinct_ops(structure, WITH_OWN_FIELDS.__contains__):
        walker.visit(structure.names[number], (ops[number],))
    return found


def transform_shardings(
    module: IndexedModule,
    transform: Callable[[TensorSharding], TensorSharding],
    *,
    in_order: bool = False,
) -> None:
    """Replace every sharding of an argument, result or value by `transform` of it.

    `transform` is called once for each distinct sharding; with `in_order` as they come in the
    text, the arguments of a function before its results and its body.
    """
    walker = _Walker(module.codec, transform)
    if in_order:
        for name, op in module.in_order:
            walker.visit(name, (op,))
        return

    def change(attribute: ir.Attribute) -> ir.Attribute:
        return walker.lists[attribute] or attribute

    module.transform_attributes(SHARDING, change, but_for=WITH_OWN_FIELDS)
    for name in WITH_OWN_FIELDS.intersection(module.names):
        walker.visit(name, [module.late_ops[number] for number in module.numbers(name)])
        module.properties_changed(name)


def transform_signature(
    function: ir.Operation,
    transform: Callable[[TensorSharding], TensorSharding],
    codec: AttributeCodec,
) -> None:
    """Replace every sharding of an argument or result of a function by `transform` of it."""
    _Walker(codec, transform).visit(FUNCTION, (function,))


class _Changes(dict[ir.Attribute, ir.Attribute | None]):
    """For each attribute its transform, None where that is the same; made when asked for."""

    def __init__(self, transform: Callable[[ir.Attribute], ir.Attribute]) -> None:
        super().__init__()
        self._transform = transform

    def __missing__(self, old: ir.Attribute) -> ir.Attribute | None:
        new = self._transform(old)
        self[old] = change = None if new == old else new
        return change


class _Walker:
    """Maps attributes to transformed attributes and remembers them.

    Attributes:
      lists: the changes of shardings as they stand in lists, one for each value.
      _known: for each `#sdy.sharding` its transform.

    """

    def __init__(
        self, codec: AttributeCodec, transform: Callable[[TensorSharding], TensorSharding]
    ) -> None:
        self._codec = codec
        self._transform = transform
        self._known: dict[ir.Attribute, ir.Attribute] = {}
        self._signatures = _Changes(self._signature)
        self._dictionaries = _Changes(self._dictionary)
        self.lists = _Changes(self._per_value)
        self._shardings = _Changes(self._sharding)

    def visit(self, name: str, ops: Iterable[ir.Operation]) -> None:
        """Transform the shardings that ops of that name hold."""
        if name == FUNCTION:
            _visit_fields(ops, "arg_attrs", self._signatures)
            _visit_fields(ops, "res_attrs", self._signatures)
        elif name in REGION_OPS:
            for op in ops:
                _visit_fields((op,), "in_shardings", self.lists)
                _visit_fields((op,), "out_shardings", self.lists)
        elif name in SHARDING_FIELDS:
            _visit_fields(ops, SHARDING_FIELDS[name], self._shardings)
        else:
            _visit_fields(ops, SHARDING, self.lists)

    def _sharding(self, attribute: ir.Attribute) -> ir.Attribute:
        new = self._known.get(attribute)
        if new is None:
            old = self._codec.sharding(attribute)
            changed = self._transform(old)
            new = attribute if changed == old else self._codec.attribute(changed)
            self._known[attribute] = new
        return new

    def _per_value(self, attribute: ir.Attribute) -> ir.Attribute:
        if not mlir_sdy.TensorShardingPerValueAttr.isinstance(attribute):
            return attribute
        old = mlir_sdy.TensorShardingPerValueAttr(attribute).shardings
        new = [self._sharding(entry) for entry in old]
        if all(a == b for a, b in zip(old, new, strict=True)):
            return attribute
        return mlir_sdy.TensorShardingPerValueAttr.get(new, self._codec.context)

    def _signature(self, attribute: ir.Attribute) -> ir.Attribute:
        changes = self._dictionaries
        return ir.ArrayAttr.get([changes[entry] or entry for entry in ir.ArrayAttr(attribute)])

    def _dictionary(self, attribute: ir.Attribute) -> ir.Attribute:
        attributes = ir.DictAttr(attribute)
        if SHARDING not in attributes:
            return attribute
        old = attributes[SHARDING]
        new = self._sharding(old)
        if new == old:
            return attribute
        return ir.DictAttr.get(named_attributes(attributes) | {SHARDING: new})


def _visit_fields(ops: Iterable[ir.Operation], field: str, changes: _Changes) -> None:
    for op in ops:
        attributes = op.attributes
        old = attributes.get(field)
        change = None if old is None else changes[old]
        if change is not None:
            attributes[field] = change
