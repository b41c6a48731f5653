"""Shardings cut short so that they divide the tensors that they are of."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.dialect.axes import AxisRef
from sdy.dialect.sharding import DimensionSharding
from sdy.ir.attributes import SHARDING
from sdy.ir.signature_attributes import named_attributes
from sdy.ir.types import is_static_shaped

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.signature_attributes import Field

__all__ = ["EvenShardings", "all_evenly_sharded"]


class EvenShardings:
    """Changes shardings, each kind once."""

    def __init__(self, codec: AttributeCodec) -> None:
        self._codec = codec
        self._entries: dict[tuple[ir.Attribute, ir.Type], ir.Attribute | None] = {}
        self._lists: dict[tuple[ir.Attribute, tuple[ir.Type, ...]], ir.Attribute | None] = {}

    def update_signature(
        self, function: ir.Operation, field: Field, types: Sequence[ir.Type]
    ) -> None:
        """Shorten the shardings of the arguments of a function, or of its results."""
        if field not in function.attributes:
            return
        entries = list(ir.ArrayAttr(function.attributes[field]))
        changes = [self._even_entry(*pair) for pair in zip(entries, types, strict=True)]
        if any(change is not None for change in changes):
            pairs = zip(entries, changes, strict=True)
            new = [entry if change is None else change for entry, change in pairs]
            function.attributes[field] = ir.ArrayAttr.get(new, function.context)

    def update_results(self, op: ir.Operation, field: str) -> None:
        """Shorten the shardings of the results of an op."""
        old = op.attributes.get(field)
        new = None if old is None else self.even_results(op, old)
        if new is not None:
            op.attributes[field] = new

    def even_results(self, op: ir.Operation, attribute: ir.Attribute) -> ir.Attribute | None:
        """Return the shardings of an op's results, shortened; None where they are not."""
        types = tuple([result.type for result in op.results])
        if not types:
            return None
        key = attribute, types
        if key not in self._lists:
            old = self._codec.shardings(attribute)
            even = all_evenly_sharded(old, types)
            self._lists[key] = None if even == old else self._codec.list_attribute(even)
        return self._lists[key]

    def _even_entry(self, attribute: ir.Attribute, type_: ir.Type) -> ir.Attribute | None:
        """Return the attributes of an argument or result; None where they need not change."""
        key = attribute, type_
        if key not in self._entries:
            self._entries[key] = self._even(ir.DictAttr(attribute), type_)
        return self._entries[key]

    def _even(self, entry: ir.DictAttr, type_: ir.Type) -> ir.Attribute | None:
        if SHARDING not in entry:
            return None
        old = self._codec.sharding(entry[SHARDING])
        even = _evenly_sharded(old, type_)
        if even == old:
            return None
        changed = named_attributes(entry) | {SHARDING: self._codec.attribute(even)}
        return ir.DictAttr.get(changed, entry.context)


def all_evenly_sharded(
    shardings: Iterable[TensorSharding], types: Iterable[ir.Type]
) -> tuple[TensorSharding, ...]:
    """Return the shardings of tensors of these types, shortened."""
    return tuple(_evenly_sharded(*pair) for pair in zip(shardings, types, strict=True))


def _evenly_sharded(sharding: TensorSharding, type_: ir.Type) -> TensorSharding:
    if not is_static_shaped(type_) or sharding.rank != type_.rank:
        return sharding
    mesh = sharding.bound_mesh
    pairs = zip(sharding.dimensions, type_.shape, strict=True)
    dimensions = tuple([_shorten(*pair, mesh) for pair in pairs])
    return (
        sharding if dimensions == sharding.dimensions else replace(sharding, dimensions=dimensions)
    )


def _shorten(dimension: DimensionSharding, size: int, mesh: Mesh) -> DimensionSharding:
    """Return the longest prefix of a dimension's axes that divides `size`, without priority."""
    if size % dimension.sharded_size(mesh) == 0:
        return dimension
    axes: list[AxisRef] = []
    for axis in dimension.axes:
        axis_size = axis.size(mesh)
        part = math.gcd(axis_size, size)
        if part == 1:
            break
        if part != axis_size:
            axes.append(AxisRef.sub(axis.name, axis.pre_size, part))
            break
        axes.append(axis)
        size //= part
    return DimensionSharding(tuple(axes), dimension.is_closed)
