"""Where in the module the sharding of a tensor is kept, and how it is written there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.manual_axes import add_free_axes
from sdy.ir.attributes import SHARDING
from sdy.ir.signature_attributes import named_attributes, set_signature_entries, signature_entries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.signature_attributes import Field

__all__ = ["ListSlot", "ManualInSlot", "SignatureSlot", "Slot"]


@dataclass(frozen=True, slots=True)
class ListSlot:
    """An attribute that lists the shardings of values of an op: of all of them, or of none."""

    op: ir.Operation
    attribute: str
    tensors: tuple[int, ...]

    def write(self, shardings: Sequence[TensorSharding | None], codec: AttributeCodec) -> None:
        """Set the attribute."""
        known = tuple(sharding for sharding in shardings if sharding is not None)
        if len(known) == len(shardings):
            self.op.attributes[self.attribute] = codec.list_attribute(known)


@dataclass(frozen=True, slots=True)
class ManualInSlot:
    """The `in_shardings` of a manual computation, whose body sees them without manual axes."""

    op: ir.Operation
    attribute: str
    tensors: tuple[int, ...]
    manual_axes: frozenset[str]

    def write(self, shardings: Sequence[TensorSharding | None], codec: AttributeCodec) -> None:
        """Set the attribute."""
        outer = codec.shardings(self.op.attributes[self.attribute])
        merged = tuple(
            old if new is None else add_free_axes(old, new, self.manual_axes)
            for old, new in zip(outer, shardings, strict=True)
        )
        self.op.attributes[self.attribute] = codec.list_attribute(merged)


@dataclass(frozen=True, slots=True)
class SignatureSlot:
    """The attributes of a function's arguments, `arg_attrs`, or results, `res_attrs`."""

    op: ir.Operation
    attribute: Field
    tensors: tuple[int, ...]

    def write(self, shardings: Sequence[TensorSharding | None], codec: AttributeCodec) -> None:
        """Set the attribute."""
        if all(sharding is None for sharding in shardings):
            return
        old = signature_entries(self.op, self.attribute)
        known: dict[tuple[ir.DictAttr, TensorSharding | None], ir.DictAttr] = {}
        entries = []
        for key in zip(old, shardings, strict=True):
            if key not in known:
                known[key] = _with_sharding(*key, codec)
            entries.append(known[key])
        set_signature_entries(self.op, self.attribute, entries)


def _with_sharding(
    attributes: ir.DictAttr, sharding: TensorSharding | None, codec: AttributeCodec
) -> ir.DictAttr:
    if sharding is None:
        return attributes
    named = named_attributes(attributes) | {SHARDING: codec.attribute(sharding)}
    return ir.DictAttr.get(named, attributes.context)


Slot = ListSlot | ManualInSlot | SignatureSlot
