"""Broadcasts as HLO has them: it cannot expand a dimension of size one.

XLA reads such a `stablehlo.broadcast_in_dim` as three ops: a broadcast that adds dimensions, a
reshape that drops those of size one, and a broadcast that adds them in full; and a broadcast
that adds dimensions of size one alone as a reshape.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.compile.hlo_form.reshapes import RESHAPE
from sdy.dialect.sharding import DimensionSharding, TensorSharding
from sdy.ir.attributes import SHARDING
from sdy.ir.types import is_static_shaped, shape

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["BROADCAST", "broadcast_dimensions", "split_broadcasts"]

BROADCAST = "stablehlo.broadcast_in_dim"


def broadcast_dimensions(op: ir.Operation) -> list[int]:
    """Return the dimension of the result for each dimension of the operand of a broadcast."""
    return list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]))


def split_broadcasts(module: IndexedModule, *, simplify: bool) -> None:
    """Replace the broadcasts that HLO has not.

    Args:
      module: with shardings or without; those of new values follow from those of results.
      simplify: whether the operand is read past what only adds dimensions of size one, as
        XLA's algebraic simplifier leaves it.

    """
    for op in module.ops(BROADCAST):
        if is_static_shaped(op.operands[0].type) and is_static_shaped(op.results[0].type):
            _Split(op, module.codec).run(simplify=simplify)
    module.ops_changed()


class _Split:
    """One broadcast, and what is made in its place."""

    def __init__(self, op: ir.Operation, codec: AttributeCodec) -> None:
        self._op = op
        self._codec = codec
        self._dims = broadcast_dimensions(op)
        self._sizes = shape(op.results[0].type)
        sharding = op.attributes.get(SHARDING)
        self._sharding = None if sharding is None else codec.shardings(sharding)[0]

    def run(self, *, simplify: bool) -> None:
        operand = self._op.operands[0]
        sizes = shape(operand.type)
        if self._dims != sorted(self._dims) or sizes == self._sizes:
            return
        if prod(sizes) == prod(self._sizes):
            self._replace(self._reshaped(operand, range(len(self._sizes))))
            return
        expanded = {
            dim for size, dim in zip(sizes, self._dims, strict=True) if size != self._sizes[dim]
        }
        if expanded:
            self._replace(self._expanded(operand, expanded, simplify=simplify))

    def _expanded(
        self, operand: ir.Value, expanded: Collection[int], *, simplify: bool
    ) -> ir.Value:
        if simplify:
            kept = [dim for dim in self._dims if dim not in expanded]
            source = _before_expansion(operand, [self._sizes[dim] for dim in kept])
            if source is None:
                source = self._reshaped(operand, kept)
            return self._broadcast(source, kept, range(len(self._sizes)))
        kept = [dim for dim in range(len(self._sizes)) if dim not in expanded]
        ones = tuple(1 if dim in expanded else size for dim, size in enumerate(self._sizes))
        with_ones = self._broadcast(operand, self._dims, range(len(ones)), ones)
        return self._broadcast(self._reshaped(with_ones, kept), kept, range(len(self._sizes)))

    def _reshaped(self, operand: ir.Value, dims: Sequence[int]) -> ir.Value:
        """Return a value reshaped to the sizes of dimensions of the result."""
        return self._create(RESHAPE, operand, dims, tuple(self._sizes[dim] for dim in dims), {})

    def _broadcast(
        self,
        operand: ir.Value,
        dims: Sequence[int],
        of_result: Sequence[int],
        sizes: tuple[int, ...] | None = None,
    ) -> ir.Value:
        attributes = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get(list(dims))}
        return self._create(BROADCAST, operand, of_result, sizes or self._sizes, attributes)

    def _create(
        self,
        name: str,
        operand: ir.Value,
        dims: Sequence[int],
        sizes: tuple[int, ...],
        attributes: dict[str, ir.Attribute],
    ) -> ir.Value:
        """Create an op whose result has the given dimensions of the broadcast's, or size one."""
        if self._sharding is not None:
            sharding = _of_dimensions(self._sharding, dims, sizes)
            attributes[SHARDING] = self._codec.list_attribute((sharding,))
        element_type = ir.RankedTensorType(operand.type).element_type
        created = ir.Operation.create(
            name,
            results=[ir.RankedTensorType.get(sizes, element_type)],
            operands=[operand],
            attributes=attributes,
            loc=self._op.location,
            ip=ir.InsertionPoint(self._op),
        )
        return created.results[0]

    def _replace(self, value: ir.Value) -> None:
        self._op.results[0].replace_all_uses_with(value)
        self._op.erase()


def _of_dimensions(
    sharding: TensorSharding, dims: Sequence[int], sizes: Sequence[int]
) -> TensorSharding:
    """Return the sharding of a value with some dimensions of another; one of size one is whole."""
    whole = DimensionSharding((), is_closed=True)
    return replace(
        sharding,
        dimensions=tuple(
            whole if size == 1 else sharding.dimensions[dim]
            for dim, size in zip(dims, sizes, strict=True)
        ),
    )


def _before_expansion(value: ir.Value, sizes: Sequence[int]) -> ir.Value | None:
    """Return the value of these sizes to which only dimensions of size one were added; or None."""
    owner = value.owner
    while isinstance(owner, ir.Operation | ir.OpView) and _adds_ones(owner.operation):
        value = owner.operation.operands[0]
        if list(shape(value.type)) == list(sizes):
            return value
        owner = value.owner
    return None


def _adds_ones(op: ir.Operation) -> bool:
    """Return whether the elements of a result are those of the operand in the same order."""
    if op.name == BROADCAST:
        dims = broadcast_dimensions(op)
        if dims != sorted(dims):
            return False
    elif op.name != RESHAPE:
        return False
    types = op.operands[0].type, op.results[0].type
    before, after = (_without_ones(shape(each)) for each in types)
    return all(map(is_static_shaped, types)) and before == after


def _without_ones(sizes: Sequence[int]) -> list[int]:
    return [size for size in sizes if size != 1]
