"""Takes attributes away from all ops, function arguments and function results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.ir.op_names import FUNCTION
from sdy.ir.signature_attributes import set_signature_entries, signature_entries

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from sdy.ir.indexed_module import IndexedModule
    from sdy.ir.signature_attributes import Field

__all__ = ["remove_attributes", "remove_signature_attributes"]

_SIGNATURE_FIELDS: tuple[Field, ...] = ("arg_attrs", "res_attrs")


def remove_attributes(ops: Iterable[ir.Operation], names: Collection[str]) -> None:
    """Take the attributes of those names away from ops."""
    for op in ops:
        attributes = op.attributes
        for name in names:
            if name in attributes:
                del attributes[name]


def remove_signature_attributes(module: IndexedModule, names: Collection[str]) -> None:
    """Take the attributes of those names away from arguments and results of functions."""
    for function in module.ops(FUNCTION):
        for field in _SIGNATURE_FIELDS:
            if field in function.attributes:
                kept = [_without(entry, names) for entry in signature_entries(function, field)]
                set_signature_entries(function, field, kept)


def _without(entry: ir.DictAttr, names: Collection[str]) -> ir.DictAttr:
    return ir.DictAttr.get({named.name: named.attr for named in entry if named.name not in names})
