"""Makes the shardings of what goes into and comes out of functions divide their tensors."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.dialect.axes import AxisRef
from sdy.dialect.manual_axes import add_free_axes, erase_manual_axes
from sdy.dialect.sharding import DimensionSharding
from sdy.ir.attributes import SHARDING
from sdy.ir.data_flow import MANUAL_COMPUTATION
from sdy.ir.data_flow_edges import block_argument_edge_owners
from sdy.ir.op_names import CALL, FUNCTION
from sdy.ir.sharding_access import manual_axes
from sdy.ir.signature_attributes import named_attributes
from sdy.ir.types import is_static_shaped
from sdy.ir.values import signature
from sdy.passes.base import Pass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule
    from sdy.ir.signature_attributes import Field

__all__ = ["UpdateNonDivisibleInputOutputShardings"]


@dataclass(frozen=True, slots=True)
class UpdateNonDivisibleInputOutputShardings(Pass):
    """Cuts shardings short where they do not divide a dimension.

    Of each dimension the longest prefix of its axes stays that divides it; a sub-axis may be
    the last. That is for arguments and results of functions, results of calls, and what goes
    into and comes out of manual computations: there, tensors are not padded.
    """

    name: ClassVar[str] = "sdy-update-non-divisible-input-output-shardings"

    def run(self, module: IndexedModule) -> None:
        """Shorten the shardings in place."""
        shardings, ops = _Shardings(module.codec), module.late_ops
        for number in module.numbers(FUNCTION):
            type_ = signature(ops[number])
            shardings.update_signature(ops[number], "arg_attrs", type_.inputs)
            shardings.update_signature(ops[number], "res_attrs", type_.results)
        changes: dict[int, ir.Attribute] = {}
        for number in module.numbers(CALL):
            old = module.attribute(number, SHARDING)
            new = None if old is None else shardings.even_results(ops[number], old)
            if new is not None:
                changes[number] = new
        module.set_attributes(SHARDING, changes)
        computations = module.numbers(MANUAL_COMPUTATION)
        for number in computations:
            _update_arguments(ops[number], module.codec)
            shardings.update_results(ops[number], "out_shardings")
        module.properties_changed(FUNCTION)
        if computations:
            module.properties_changed(MANUAL_COMPUTATION)


class _Shardings:
    """Changes shardings, each kind once."""

    def __init__(self, codec: AttributeCodec) -> None:
        self._codec = codec
        self._known: dict[tuple[ir.Attribute, ir.Type], ir.Attribute | None] = {}
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
            even = _all_evenly_sharded(old, types)
            self._lists[key] = None if even == old else self._codec.list_attribute(even)
        return self._lists[key]

    def _even_entry(self, attribute: ir.Attribute, type_: ir.Type) -> ir.Attribute | None:
        """Return the attributes of an argument or result; None where they need not change."""
        entry = ir.DictAttr(attribute)
        if SHARDING not in entry:
            return None
        key = entry[SHARDING], type_
        if key not in self._known:
            self._known[key] = self._even(*key)
        even = self._known[key]
        if even is None:
            return None
        return ir.DictAttr.get(named_attributes(entry) | {SHARDING: even}, entry.context)

    def _even(self, attribute: ir.Attribute, type_: ir.Type) -> ir.Attribute | None:
        """Return a sharding, shortened; None where it is not."""
        old = self._codec.sharding(attribute)
        even = _evenly_sharded(old, type_)
        return None if even == old else self._codec.attribute(even)


def _update_arguments(computation: ir.Operation, codec: AttributeCodec) -> None:
    outer = codec.shardings(computation.attributes["in_shardings"])
    if not outer:
        return
    manual = manual_axes(computation)
    inner = [erase_manual_axes(sharding, manual) for sharding in outer]
    arguments = block_argument_edge_owners(computation)
    even = _all_evenly_sharded(inner, (argument.type for argument in arguments))
    pairs = zip(outer, even, strict=True)
    updated = tuple(add_free_axes(old, new, manual) for old, new in pairs)
    computation.attributes["in_shardings"] = codec.list_attribute(updated)


def _all_evenly_sharded(
    shardings: Iterable[TensorSharding], types: Iterable[ir.Type]
) -> tuple[TensorSharding, ...]:
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
