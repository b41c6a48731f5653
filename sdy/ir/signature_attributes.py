"""Attributes of the arguments and of the results of functions.

A function keeps a dictionary for each argument in `arg_attrs` and one for each result in
`res_attrs`; it has no such list where all of them are empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from jaxlib.mlir import ir

from sdy.ir.values import signature

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "Field",
    "add_signature_attributes",
    "named_attributes",
    "set_signature_entries",
    "signature_attribute",
    "signature_entries",
]

Field = Literal["arg_attrs", "res_attrs"]
"""Where a function keeps the attributes of its arguments, or of its results."""


def signature_entries(function: ir.Operation, field: Field) -> list[ir.DictAttr]:
    """Return the attributes of each argument, or of each result, of a `func.func`."""
    if field in function.attributes:
        return list(ir.ArrayAttr(function.attributes[field]))
    kind = signature(function)
    types = kind.inputs if field == "arg_attrs" else kind.results
    return [ir.DictAttr.get({}, function.context)] * len(types)


def set_signature_entries(
    function: ir.Operation, field: Field, entries: Sequence[ir.DictAttr]
) -> None:
    """Set the attributes of each argument, or of each result, of a `func.func`."""
    function.attributes[field] = ir.ArrayAttr.get(entries, function.context)


def named_attributes(entry: ir.DictAttr) -> dict[str, ir.Attribute]:
    """Return the attributes of a dictionary by name."""
    # To iterate over it is slower, as the end is an exception, and so is `attr`.
    names = [entry[index].name for index in range(len(entry))]
    return {name: entry[name] for name in names}


def signature_attribute(
    function: ir.Operation, field: Field, index: int, name: str
) -> ir.Attribute | None:
    """Return one attribute of one argument or result; None where it has none of that name."""
    if field not in function.attributes:
        return None
    entry = ir.DictAttr(ir.ArrayAttr(function.attributes[field])[index])
    return entry[name] if name in entry else None  # noqa: SIM401 - it has no `get`


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
    entries = signature_entries(function, field)
    for index, attribute in attributes.items():
        named = named_attributes(entries[index]) | {name: attribute}
        entries[index] = ir.DictAttr.get(named, function.context)
    set_signature_entries(function, field, entries)
