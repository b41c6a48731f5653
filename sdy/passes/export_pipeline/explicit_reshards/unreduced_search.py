"""Whether any tensor of a module may have unreduced axes: most modules have none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.ir.attributes import SHARDING
from sdy.ir.op_names import FUNCTION
from sdy.ir.sharding_access import REGION_OPS, SHARDING_FIELDS, WITH_OWN_FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sdy.ir.indexed_module import IndexedModule

__all__ = ["may_have_unreduced_axes"]

_KEYWORD = "unreduced"


def may_have_unreduced_axes(module: IndexedModule) -> bool:
    """Return whether the text of a sharding has the keyword; an axis of that name counts, too."""
    found: set[ir.Attribute | None] = set()
    found.update(module.distinct_attributes(SHARDING, WITH_OWN_FIELDS))
    ops = module.late_ops
    for name in WITH_OWN_FIELDS.intersection(module.names):
        attributes = [ops[number].attributes for number in module.numbers(name)]
        if name == FUNCTION:
            found.update(_signature_shardings(attributes))
            continue
        for field in _fields(name):
            found.update([each.get(field) for each in attributes])
    return any(_KEYWORD in str(attribute) for attribute in found)


def _signature_shardings(attributes: Iterable[ir.OpAttributeMap]) -> set[ir.Attribute]:
    """Return the shardings of the arguments and results of functions."""
    entries: set[ir.Attribute] = set()
    for each in attributes:
        for field in ("arg_attrs", "res_attrs"):
            if field in each:
                entries.update(ir.ArrayAttr(each[field]))
    dictionaries = map(ir.DictAttr, entries)
    return {entry[SHARDING] for entry in dictionaries if SHARDING in entry}


def _fields(name: str) -> tuple[str, ...]:
    """Return the fields in which ops of that name, which have their own, keep shardings."""
    if name in REGION_OPS:
        return "in_shardings", "out_shardings"
    return (SHARDING_FIELDS[name],)
