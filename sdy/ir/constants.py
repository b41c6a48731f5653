"""Constants whose value Python may be unable to read.

jaxlib has no Python class for dense elements of complex type: reading such an attribute raises
TypeError. Those ops go through their text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.ir.attributes import SHARDING

if TYPE_CHECKING:
    from collections.abc import Container, Hashable

__all__ = ["ConstantCopies", "attributes_key", "copy_constant_as"]


class ConstantCopies:
    """Creates constants of one name from those of another, faster where they repeat."""

    def __init__(self, name: str) -> None:
        """Create ops of that name."""
        self._name = name
        self._known: dict[Hashable, tuple[list[ir.Type], dict[str, ir.Attribute]]] = {}

    def copy(self, op: ir.Operation, key: Hashable) -> ir.Operation:
        """Create a constant with the type and all attributes of `op`, before it.

        Args:
          op: a constant.
          key: equal only for ops of equal types and attributes.

        """
        place = ir.InsertionPoint(op)
        known = self._known.get(key)
        if known is None:
            try:
                known = [op.result.type], dict(op.attributes)
            except TypeError:
                return _copy_by_text(self._name, op, place)
            self._known[key] = known
        types, attributes = known
        # By position: nanobind is faster so.
        copy = ir.Operation.create(self._name, types, None, attributes, None, 0, op.location, place)
        return copy.operation


def copy_constant_as(name: str, op: ir.Operation) -> ir.Operation:
    """Create an op of that name with the type and all attributes of a constant, before it."""
    place = ir.InsertionPoint(op)
    try:
        attributes = dict(op.attributes)
    except TypeError:
        return _copy_by_text(name, op, place)
    types = [op.result.type]
    return ir.Operation.create(name, types, attributes=attributes, loc=op.location, ip=place)


def _copy_by_text(name: str, op: ir.Operation, place: ir.InsertionPoint) -> ir.Operation:
    # Text of its own is verified when it is read, and there is no mesh in it.
    sharding = op.attributes.get(SHARDING)
    if sharding is not None:
        del op.attributes[SHARDING]
    text = _text(op, with_location=True).replace(f'"{op.name}"', f'"{name}"', 1)
    copy = ir.Operation.parse(text).operation
    place.insert(copy)
    if sharding is not None:
        op.attributes[SHARDING] = copy.attributes[SHARDING] = sharding
    return copy


def attributes_key(op: ir.Operation, without: Container[str] = ()) -> Hashable:
    """Return what is equal for two constants just if all their attributes are.

    Attributes of names that are in `without` do not count, unless Python cannot read them all.
    """
    try:
        return tuple(item for item in op.attributes.items() if item[0] not in without)
    except TypeError:
        return _text(op, with_location=False).partition("=")[2]


def _text(op: ir.Operation, *, with_location: bool) -> str:
    asm = op.get_asm(
        print_generic_op_form=True, use_local_scope=True, enable_debug_info=with_location
    )
    return str(asm)
