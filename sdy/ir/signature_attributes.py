"""Attributes of the arguments and of the results of functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from jaxlib.mlir import ir

from sdy.ir.values import signature

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Field", "add_signature_attributes"]

Field = Literal["arg_attrs", "res_attrs"]
"""Where a function keeps the attributes of its arguments, or of its results."""


def add_signature_attributes(
    function: ir.Operation,
    field: Field,
    name: str,
    attributes: Mapping[int, ir.Attribute],
) -> None:
    """Set an attribute of some of a function's arguments, or of some of its results.

    Args:
      function: the `func.func`.
      field: which of the two.
      name: the attribute's.
      attributes: the attribute for each index.

    """
    if field in function.attributes:
        entries = [ir.DictAttr(entry) for entry in ir.ArrayAttr(function.attributes[field])]
    else:
        types = signature(function).inputs if field == "arg_attrs" else signature(function).results
        entries = [ir.DictAttr.get({}, function.context)] * len(types)
    for index, attribute in attributes.items():
        named = {entry.name: entry.attr for entry in entries[index]}
        entries[index] = ir.DictAttr.get(named | {name: attribute}, function.context)
    function.attributes[field] = ir.ArrayAttr.get(entries, function.context)
