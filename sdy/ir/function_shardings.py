"""The shardings of a function's arguments, and of its results, all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.sharding import TensorSharding
from sdy.ir.attributes import SHARDING
from sdy.ir.signature_attributes import (
    Field,
    named_attributes,
    set_signature_entries,
    signature_entries,
)
from sdy.ir.types import rank
from sdy.ir.values import signature

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.ir.attributes import AttributeCodec

__all__ = [
    "argument_shardings",
    "result_shardings",
    "set_argument_shardings",
    "set_result_shardings",
]

Shardings = tuple[TensorSharding, ...]

_ARGUMENTS: Field = "arg_attrs"
_RESULTS: Field = "res_attrs"


def argument_shardings(function: ir.Operation, codec: AttributeCodec) -> Shardings | None:
    """Return the shardings of the arguments, open where an argument has none.

    None where no argument has a sharding on more than one device.
    """
    return _read(function, _ARGUMENTS, signature(function).inputs, codec)


def result_shardings(function: ir.Operation, codec: AttributeCodec) -> Shardings | None:
    """Return the shardings of the results, open where a result has none.

    None where no result has a sharding on more than one device.
    """
    return _read(function, _RESULTS, signature(function).results, codec)


def set_argument_shardings(
    function: ir.Operation, shardings: Sequence[TensorSharding | None], codec: AttributeCodec
) -> None:
    """Set the sharding of every argument; None takes it away."""
    _write(function, _ARGUMENTS, shardings, codec)


def set_result_shardings(
    function: ir.Operation, shardings: Sequence[TensorSharding | None], codec: AttributeCodec
) -> None:
    """Set the sharding of every result; None takes it away."""
    _write(function, _RESULTS, shardings, codec)


def _read(
    function: ir.Operation, field: Field, types: Sequence[ir.Type], codec: AttributeCodec
) -> Shardings | None:
    if field not in function.attributes:
        return None
    entries = signature_entries(function, field)
    known = [codec.sharding(entry[SHARDING]) if SHARDING in entry else None for entry in entries]
    meshes = (sharding.bound_mesh for sharding in known if sharding is not None)
    mesh = next((mesh for mesh in meshes if not mesh.is_maximal), None)
    if mesh is None:
        return None
    return tuple(
        TensorSharding.fully_open(mesh, rank(type_)) if sharding is None else sharding
        for sharding, type_ in zip(known, types, strict=True)
    )


def _write(
    function: ir.Operation,
    field: Field,
    shardings: Sequence[TensorSharding | None],
    codec: AttributeCodec,
) -> None:
    old = signature_entries(function, field)
    new = [_with_sharding(*pair, codec) for pair in zip(old, shardings, strict=True)]
    if any(len(entry) for entry in new):
        set_signature_entries(function, field, new)
    elif field in function.attributes:
        del function.attributes[field]


def _with_sharding(
    entry: ir.DictAttr, sharding: TensorSharding | None, codec: AttributeCodec
) -> ir.DictAttr:
    changed = named_attributes(entry)
    changed.pop(SHARDING, None)
    if sharding is not None:
        changed[SHARDING] = codec.attribute(sharding)
    return ir.DictAttr.get(changed)
