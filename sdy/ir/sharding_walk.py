"""Changes every sharding in a module, each distinct one once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy as mlir_sdy

from sdy.ir.attributes import SHARDING
from sdy.ir.op_names import FUNCTION
from sdy.ir.sharding_access import REGION_OPS, SHARDING_FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["transform_shardings", "transform_signature"]


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
    else:
        for name, ops in module.ops_by_name.items():
            walker.visit(name, ops)


def transform_signature(
    function: ir.Operation,
    transform: Callable[[TensorSharding], TensorSharding],
    codec: AttributeCodec,
) -> None:
    """Replace every sharding of an argument or result of a function by `transform` of it."""
    _Walker(codec, transform).visit(FUNCTION, (function,))


class _Walker:
    """Maps attributes to transformed attributes and remembers them.

    Attributes:
      _known: for each `#sdy.sharding` its transform.
      _changes: for each attribute of an op its transform; None where that is the same.

    """

    def __init__(
        self, codec: AttributeCodec, transform: Callable[[TensorSharding], TensorSharding]
    ) -> None:
        self._codec = codec
        self._transform = transform
        self._known: dict[ir.Attribute, ir.Attribute] = {}
        self._changes: dict[ir.Attribute, ir.Attribute | None] = {}

    def visit(self, name: str, ops: Iterable[ir.Operation]) -> None:
        """Transform the shardings that ops of that name hold."""
        if name == FUNCTION:
            self._visit_fields(ops, "arg_attrs", self._signature)
            self._visit_fields(ops, "res_attrs", self._signature)
        elif name in REGION_OPS:
            for op in ops:
                self._visit_fields((op,), "in_shardings", self._per_value)
                self._visit_fields((op,), "out_shardings", self._per_value)
        elif name in SHARDING_FIELDS:
            self._visit_fields(ops, SHARDING_FIELDS[name], self._sharding)
        else:
            self._visit_fields(ops, SHARDING, self._per_value)

    def _visit_fields(
        self,
        ops: Iterable[ir.Operation],
        field: str,
        transform: Callable[[ir.Attribute], ir.Attribute],
    ) -> None:
        changes = self._changes
        for op in ops:
            attributes = op.attributes
            old = attributes.get(field)
            if old is None:
                continue
            if old not in changes:
                new = transform(old)
                changes[old] = None if new == old else new
            change = changes[old]
            if change is not None:
                attributes[field] = change

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
        return self._codec.list_attribute(tuple(map(self._codec.sharding, new)))

    def _signature(self, attribute: ir.Attribute) -> ir.Attribute:
        entries = ir.ArrayAttr(attribute)
        return ir.ArrayAttr.get([self._dictionary(ir.DictAttr(entry)) for entry in entries])

    def _dictionary(self, attributes: ir.DictAttr) -> ir.Attribute:
        if SHARDING not in attributes:
            return attributes
        changed = {entry.name: entry.attr for entry in attributes}
        changed[SHARDING] = self._sharding(changed[SHARDING])
        return ir.DictAttr.get(changed)
