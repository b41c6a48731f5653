"""Which symbols the attributes of a module's ops refer to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.ir.distinct_ops import distinct_ops
from sdy.ir.op_names import CALL, MODULE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sdy.ir.structure import Structure

__all__ = ["symbol_references"]

_REFERRING_STABLEHLO = frozenset({"stablehlo.composite", "stablehlo.custom_call"})
_RESULT_INFO = "jax.result_info"
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
    for number in distinct_ops(structure, _may_refer):
        for field, attribute in ops[number].attributes.items():
            if structure.names[number] == CALL and field == "callee":
                continue
            yield from _parts(attribute)


def _parts(attribute: ir.Attribute) -> Iterator[ir.Attribute]:
    """Yield an attribute; of those of arguments and results, which are many, what may refer."""
    if not isinstance(attribute, ir.ArrayAttr):
        yield attribute
        return
    for part in attribute:
        # JAX says on every result what it is.
        if not (isinstance(part, ir.DictAttr) and len(part) == 1 and _RESULT_INFO in part):
            yield part


def _may_refer(name: str) -> bool:
    """Return whether ops of that name may refer to symbols in what belongs to their kind."""
    return not name.startswith(("stablehlo.", "chlo.")) or name in _REFERRING_STABLEHLO
