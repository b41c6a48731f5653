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
from sdy.ir.signature_attributes import named_attributes, set_signature_entries, signature_entries
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
        shardings = _Shardings(module.codec)
        for function in module.read_ops(FUNCTION):
            type_ = signature(function)
            shardings.update_signature(function, "arg_attrs", type_.inputs)
            shardings.update_signature(function, "res_attrs", type_.results)
        for call in module.read_ops(CALL):
            shardings.update_results(call, SHARDING)
        for computation in module.read_ops(MANUAL_COMPUTATION):
            _update_arguments(computation, module.codec)
            shardings.update_results(computation, "out_shardings")
        if shardings.have_changed or module.read_ops(MANUAL_COMPUTATION):
            module.forget_structure()


class _Shardings:
    """Changes shardings, each kind once.

    Attributes:
      have_changed: whether any did.

    """

    def __init__(self, codec: AttributeCodec) -> None:
        self.have_changed = False
        self._codec = codec
        self._known: dict[tuple[ir.Attribute, ir.Type], ir.Attribute] = {}

    def update_signature(
        self, function: ir.Operation, field: Field, types: Sequence[ir.Type]
    ) -> None:
        """Shorten the shardings of the arguments of a function, or of its results."""
        if field not in function.attributes:
            return
        entries = signature_entries(function, field)
        changed: dict[int, ir.DictAttr] = {}
        for index, (entry, type_) in enumerate(zip(entries, types, strict=True)):
            if SHARDING in entry:
                even = self._even(entry[SHARDING], type_)
                if even != entry[SHARDING]:
                    attributes = named_attributes(entry) | {SHARDING: even}
                    changed[index] = ir.DictAttr.get(attributes, function.context)
        if changed:
            self.have_changed = True
            new = [changed.get(index, entry) for index, entry in enumerate(entries)]
            set_signature_entries(function, field, new)

    def update_results(self, op: ir.Operation, field: str) -> None:
        """Shorten the shardings of the results of an op."""
        if field in op.attributes and len(op.results):
            shardings = self._codec.shardings(op.attributes[field])
            even = _all_evenly_sharded(shardings, (result.type for result in op.results))
            if even != shardings:
                self.have_changed = True
                op.attributes[field] = self._codec.list_attribute(even)

    def _even(self, attribute: ir.Attribute, type_: ir.Type) -> ir.Attribute:
        known = self._known.get((attribute, type_))
        if known is None:
            old = self._codec.sharding(attribute)
            even = _evenly_sharded(old, type_)
            known = attribute if even == old else self._codec.attribute(even)
            self._known[attribute, type_] = known
        return known


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
    return replace(sharding, dimensions=tuple(_shorten(*pair, mesh) for pair in pairs))


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
