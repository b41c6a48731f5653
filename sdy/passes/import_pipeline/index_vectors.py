"""The components of the index vectors that gathers and scatters take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.passes.canonicalize.operations import producer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.passes.canonicalize.driver import Rewriter

__all__ = ["comes_from_iota", "without_component"]

_CONCATENATE = "stablehlo.concatenate"
_IOTA = "stablehlo.iota"
_SLICE = "stablehlo.slice"
_SELECT = "stablehlo.select"
# The operand that these ops hand on, in another shape or within bounds.
_HANDED_ON = {"stablehlo.reshape": 0, "stablehlo.broadcast_in_dim": 0, "stablehlo.clamp": 1}


def comes_from_iota(indices: ir.Value, dimension: int, component: int) -> bool:
    """Return whether a component of the index vectors is an iota along the first dimension.

    Args:
      indices: the index vectors.
      dimension: along which of its dimensions the components of one vector are.
      component: which component.

    """
    concatenate = producer(indices, _CONCATENATE)
    if concatenate is not None:
        if _integer(concatenate, "dimension") != dimension:
            return False
        if component >= len(concatenate.operands):
            return False
        indices = concatenate.operands[component]
    iota = producer(_origin(indices), _IOTA)
    return iota is not None and _integer(iota, "iota_dimension") == 0


def _origin(value: ir.Value) -> ir.Value:
    while isinstance(value, ir.OpResult):
        op = value.owner.operation
        if op.name in _HANDED_ON:
            value = op.operands[_HANDED_ON[op.name]]
        elif op.name == _SELECT:
            _, on_true, on_false = op.operands
            value = on_true if producer(on_false, _IOTA) is None else on_false
        else:
            break
    return value


def without_component(
    user: ir.Operation, indices: ir.Value, dimension: int, component: int, rewriter: Rewriter
) -> ir.Value:
    """Return the index vectors without one component, made before `user`."""
    size = indices.type.shape[dimension]
    concatenate = producer(indices, _CONCATENATE)
    if (
        concatenate is not None
        and _integer(concatenate, "dimension") == dimension
        and len(concatenate.operands) == size
    ):
        parts = list(concatenate.operands)
        del parts[component]
    else:
        ranges = [(0, component), (component + 1, size)]
        parts = [
            _slice(user, indices, dimension, start, end, rewriter)
            for start, end in ranges
            if start < end
        ]
    if len(parts) == 1:
        return parts[0]
    return rewriter.create(
        _CONCATENATE,
        parts,
        {"dimension": _integer_attribute(dimension)},
        _resized(indices.type, dimension, size - 1),
        at=ir.InsertionPoint(user),
        location=user.location,
    )


def _slice(
    user: ir.Operation, value: ir.Value, dimension: int, start: int, end: int, rewriter: Rewriter
) -> ir.Value:
    shape = value.type.shape
    starts, limits = [0] * len(shape), list(shape)
    starts[dimension], limits[dimension] = start, end
    attributes = {
        "start_indices": _integers_attribute(starts),
        "limit_indices": _integers_attribute(limits),
        "strides": _integers_attribute([1] * len(shape)),
    }
    result_type = _resized(value.type, dimension, end - start)
    place = ir.InsertionPoint(user)
    return rewriter.create(
        _SLICE, [value], attributes, result_type, at=place, location=user.location
    )


def _resized(type_: ir.RankedTensorType, dimension: int, size: int) -> ir.Type:
    shape = list(type_.shape)
    shape[dimension] = size
    with ir.Location.unknown(type_.context):
        return ir.RankedTensorType.get(shape, type_.element_type)


def _integer(op: ir.Operation, name: str) -> int:
    value: int = ir.IntegerAttr(op.attributes[name]).value
    return value


def _integer_attribute(value: int) -> ir.Attribute:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


def _integers_attribute(values: Sequence[int]) -> ir.Attribute:
    return ir.DenseI64ArrayAttr.get(values)
