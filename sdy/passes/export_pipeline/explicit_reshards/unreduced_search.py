"""Whether any tensor of a module may have unreduced axes: most modules have none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.ir.attributes import SHARDING
from sdy.ir.op_names import FUNCTION
from sdy.ir.sharding_access import REGION_OPS, SHARDING_FIELDS, WITH_OWN_FIELDS

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["may_have_unreduced_axes"]

_KEYWORD = "unreduced"


def may_have_unreduced_axes(module: IndexedModule) -> bool:
    """Return whether the text of a sharding has the keyword; an axis of that name counts, too."""
    found = {attribute for _, _, attribute in module.attributes_of_ops(SHARDING, WITH_OWN_FIELDS)}
    for name in WITH_OWN_FIELDS.intersection(module.names):
        for field in _fields(name):
            found.update(op.attributes.get(field) for op in module.read_ops(name))
    return any(_KEYWORD in str(attribute) for attribute in found)


def _fields(name: str) -> tuple[str, ...]:
    """Return the fields in which ops of that name, which have their own, keep shardings."""
    if name == FUNCTION:
        return "arg_attrs", "res_attrs"
    if name in REGION_OPS:
        return "in_shardings", "out_shardings"
    return (SHARDING_FIELDS[name],)
