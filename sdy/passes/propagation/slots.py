"""Where in the module the sharding of a tensor is kept, and how it is written there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.manual_axes import add_free_axes
from sdy.ir.attributes import SHARDING
from sdy.ir.signature_attributes import named_attributes, set_signature_entries, signature_entries
from sdy.passes.propagation.interner import NO_SHARDING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.signature_attributes import Field
    from sdy.passes.propagation.interner import ShardingAttributes

__all__ = ["ListSlot", "ManualInSlot", "SignatureSlot", "Slot"]


@dataclass(frozen=True, slots=True)
class ListSlot:
    """An attribute that lists the shardings of values of an op: of all of them, or of none."""

    op: ir.Operation
    attribute: str
    tensors: tuple[int, ...]

    def write(self, shardings: Sequence[int], attributes: ShardingAttributes) -> None:
        """Set the attribute."""
        if NO_SHARDING not in shardings:
            attribute = attributes.list_attribute(tuple(shardings))
            self.op.attributes[self.attribute] = attribute


@dataclass(frozen=True, slots=True)
class ManualInSlot:
    """The `in_shardings` of a manual computation, whose body sees them without manual axes."""

    op: ir.Operation
    attribute: str
    tensors: tuple[int, ...]
    manual_axes: frozenset[str]

    def write(self, shardings: Sequence[int], attributes: ShardingAttributes) -> None:
        """Set the attribute."""
        interner, codec = attributes.interner, attributes.codec
        outer = codec.shardings(self.op.attributes[self.attribute])
        merged: list[TensorSharding] = []
        for old, number in zip(outer, shardings, strict=True):
            new = interner.sharding(number)
            merged.append(old if new is None else add_free_axes(old, new, self.manual_axes))
        self.op.attributes[self.attribute] = codec.list_attribute(tuple(merged))


@dataclass(frozen=True, slots=True)
class SignatureSlot:
    """The attributes of a function's arguments, `arg_attrs`, or results, `res_attrs`."""

    op: ir.Operation
    attribute: Field
    tensors: tuple[int, ...]

    def write(self, shardings: Sequence[int], attributes: ShardingAttributes) -> None:
        """Set the attribute."""
        if not any(shardings):
            return
        old = signature_entries(self.op, self.attribute)
        known: dict[tuple[ir.DictAttr, int], ir.DictAttr] = {}
        entries: list[ir.DictAttr] = []
        for entry, number in zip(old, shardings, strict=True):
            new = known.get((entry, number))
            if new is None:
                new = known[entry, number] = _with_sharding(entry, number, attributes)
            entries.append(new)
        set_signature_entries(self.op, self.attribute, entries)


def _with_sharding(entry: ir.DictAttr, number: int, attributes: ShardingAttributes) -> ir.DictAttr:
    if number == NO_SHARDING:
        return entry
    named = named_attributes(entry) | {SHARDING: attributes.attribute(number)}
    return ir.DictAttr.get(named, entry.context)


Slot = ListSlot | ManualInSlot | SignatureSlot
