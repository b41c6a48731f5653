"""Which symbols the attributes of a module's ops refer to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.ir.op_names import CALL, MODULE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sdy.ir.structure import Structure

__all__ = ["symbol_references"]

_REFERENCE = re.compile(r'@([A-Za-z_0-9.$]+|")')


def symbol_references(
    module: ir.Operation, structure: Structure, ops: Sequence[ir.Operation]
) -> frozenset[str] | None:
    """Return the names of the symbols that something other than a call of them may refer to.

    None where that cannot be told: there is a module in the module, or attributes that Python
    cannot read, or a name that is no plain identifier.

    Args:
      module: the module.
      structure: its structure, as it is.
      ops: by their numbers in the structure.

    """
    if MODULE in structure.names:
        return None
    texts: set[str] = set()
    try:
        attributes = dict.fromkeys(_attributes(module, structure, ops))
        for attribute in attributes:
            if not isinstance(attribute, ir.DenseElementsAttr):
                texts.update(_REFERENCE.findall(str(attribute)))
    except TypeError:
        return None
    return None if '"' in texts else frozenset(texts)


def _attributes(
    module: ir.Operation, structure: Structure, ops: Sequence[ir.Operation]
) -> Iterator[ir.Attribute]:
    """Yield all attributes, but for what calls call, at least once."""
    yield from module.attributes.values()
    kinds = zip(structure.names, structure.attributes, structure.properties, strict=True)
    examples = dict(zip(kinds, range(len(ops)), strict=True))
    for (name, _, _), number in examples.items():
        for field, attribute in ops[number].attributes.items():
            if name != CALL or field != "callee":
                yield attribute
