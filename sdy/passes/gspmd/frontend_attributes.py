"""Frontend attributes: text that XLA carries on ops, arguments and modules without reading it.

Shardy keeps attributes of the sdy dialect there, as MLIR prints them, while a program is HLO.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from jaxlib.mlir import ir

from sdy.ir.diagnostics import TEXT, DiagnosticError, Source, op_error
from sdy.ir.load import MAX_NESTING, check_nesting
from sdy.ir.signature_attributes import named_attributes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "parse_frontend_attribute",
    "read_frontend_attribute",
    "remove_frontend_attributes",
    "set_frontend_attributes",
    "with_frontend_attributes",
    "without_frontend_attributes",
]

_Kind = TypeVar("_Kind", bound=ir.Attribute)

_FRONTEND = "mhlo.frontend_attributes"


def with_frontend_attributes(
    attributes: Mapping[str, ir.Attribute], added: Mapping[str, ir.Attribute], context: ir.Context
) -> dict[str, ir.Attribute]:
    """Return the attributes of an op or an argument with more frontend attributes.

    Args:
      attributes: by name; the frontend attributes are one of them.
      added: by name; each that is not a text becomes its text.
      context: of the attributes.

    """
    texts = {
        name: value if isinstance(value, ir.StringAttr) else ir.StringAttr.get(str(value), context)
        for name, value in added.items()
    }
    frontend = _frontend(attributes) | texts
    return {**attributes, _FRONTEND: ir.DictAttr.get(frontend, context=context)}


def without_frontend_attributes(
    attributes: Mapping[str, ir.Attribute], names: Iterable[str], context: ir.Context
) -> dict[str, ir.Attribute]:
    """Return the attributes of an op or an argument without some of the frontend attributes."""
    dropped = set(names)
    frontend = {name: value for name, value in _frontend(attributes).items() if name not in dropped}
    kept = {name: value for name, value in attributes.items() if name != _FRONTEND}
    if frontend:
        kept[_FRONTEND] = ir.DictAttr.get(frontend, context=context)
    return kept


def set_frontend_attributes(op: ir.Operation, added: Mapping[str, ir.Attribute]) -> None:
    """Add frontend attributes to an op."""
    named = with_frontend_attributes(_own(op), added, op.context)
    op.attributes[_FRONTEND] = named[_FRONTEND]


def remove_frontend_attributes(op: ir.Operation, *names: str) -> None:
    """Take frontend attributes away from an op."""
    own = _own(op)
    kept = without_frontend_attributes(own, names, op.context)
    if _FRONTEND in kept:
        op.attributes[_FRONTEND] = kept[_FRONTEND]
    elif own:
        del op.attributes[_FRONTEND]


def read_frontend_attribute(op: ir.Operation, name: str, kind: type[_Kind]) -> _Kind | None:
    """Return what the text of an op's frontend attribute says; None where it has none.

    Raises:
      Error: at the op, where the text is no attribute of that kind.

    """
    return parse_frontend_attribute(op, _own(op), name, kind)


def parse_frontend_attribute(
    op: ir.Operation, attributes: Mapping[str, ir.Attribute], name: str, kind: type[_Kind]
) -> _Kind | None:
    """Return what the text of a frontend attribute says; None where there is none of that name.

    Raises:
      Error: at `op`, where the text is no attribute of that kind.

    """
    try:
        value = _frontend(attributes).get(name)
        text = None if value is None else ir.StringAttr(value).value
    except ValueError as error:
        raise op_error(op, f"{_FRONTEND}: expected a dictionary of texts: {error}") from None
    if text is None:
        return None
    attribute = _parse(op, text)
    if attribute is None:
        raise op_error(op, f"frontend attribute '{name}' is no attribute: {text}")
    try:
        of_kind: _Kind = kind(attribute)
    except ValueError:
        expected = kind.__name__.removesuffix("Attr")
        message = f"frontend attribute '{name}': expected a {expected}, got {text}"
        raise op_error(op, message) from None
    return of_kind


def _parse(op: ir.Operation, text: str) -> ir.Attribute | None:
    """Return the attribute that a text spells; None where it spells none, or several."""
    try:
        check_nesting(text, Source(TEXT, text))
    except DiagnosticError:
        raise op_error(op, f"a frontend attribute is nested more than {MAX_NESTING} deep") from None
    # Programs of old have backslashes before quotes.
    for each in (text, text.replace('\\"', '"')):
        try:
            # In a list, as MLIR's parser does not survive a text without any attribute.
            found = ir.ArrayAttr(ir.Attribute.parse(f"[{each}\n]", op.context))
        except ir.MLIRError:
            continue
        return found[0] if len(found) == 1 else None
    return None


def _own(op: ir.Operation) -> dict[str, ir.Attribute]:
    frontend = op.attributes.get(_FRONTEND)
    return {} if frontend is None else {_FRONTEND: frontend}


def _frontend(attributes: Mapping[str, ir.Attribute]) -> dict[str, ir.Attribute]:
    frontend = attributes.get(_FRONTEND)
    return {} if frontend is None else named_attributes(ir.DictAttr(frontend))
