"""Shardings of the sdy dialect become those that XLA's SPMD partitioner (GSPMD) reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.dialect.errors import check_type
from sdy.ir.attributes import SHARDING
from sdy.ir.indexed_module import IndexedModule
from sdy.ir.op_names import FUNCTION, MESH
from sdy.ir.signature_attributes import named_attributes, set_signature_entries, signature_entries
from sdy.ir.values import signature
from sdy.passes.base import Pass, option
from sdy.passes.gspmd.hlo_shardings import HLO_SHARDING, HloShardingAttributes, says_nothing
from sdy.passes.gspmd.loop_invariants import capture_invariants
from sdy.passes.gspmd.op_export import check_exportable, export_ops, register_copy
from sdy.passes.transaction import restored_on_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.signature_attributes import Field

__all__ = ["ToGspmd", "to_gspmd"]

# In the regions of these ops XLA's partitioner sees tensors like any other; regions of all
# other ops, such as the body of a reduce, work on scalars of one device.
_LOOP = "stablehlo.while"
_CONTROL_FLOW = frozenset({_LOOP, "stablehlo.case", "stablehlo.if"})
# The partitioner refuses these without a sharding, and a replicated one too.
_ON_ONE_DEVICE = frozenset({"stablehlo.send", "stablehlo.recv", "stablehlo.create_token"})


def to_gspmd(module: ir.Module, *, complete: bool = True) -> ir.Module:
    """Turn the shardings of a module into XLA's, in place, and return the module.

    Args:
      module: with shardings of the sdy dialect.
      complete: whether propagation has been run, so that a value without a sharding is
        replicated; else it is left out, for GSPMD to decide.

    Raises:
      Error: at an op that cannot be exported; the module is as it was.

    """
    check_type(module, ir.Module, "module", "an ir.Module (sdy.load makes one)")
    with module.context, ir.Location.unknown(), restored_on_error(module):
        ToGspmd(complete=complete).run(IndexedModule(module))
    return module


@dataclass(frozen=True, slots=True)
class ToGspmd(Pass):
    """Turns shardings into the `mhlo.sharding` attributes of XLA's SPMD partitioner.

    Arguments, results and ops get their HloSharding; a constraint becomes a `@Sharding` custom
    call, a reshard and a collective become a copy; meshes and all sdy attributes go. A value
    without a sharding is taken to be replicated and is said to be, so that GSPMD has nothing
    left to decide. With `complete=false`, for a module that was not propagated, it is left out
    instead, as is a sharding that says nothing, and open dimensions of constraints become
    GSPMD's `unspecified_dims`.
    """

    name: ClassVar[str] = "sdy-to-gspmd"

    complete: bool = option(True, "Whether values without a sharding are replicated.")

    def run(self, module: IndexedModule) -> None:
        """Export ops, then shardings, then drop what is left of the dialect."""
        check_exportable(module, complete=self.complete)
        attributes = HloShardingAttributes(module.codec, module.context)
        with module.context, ir.Location.unknown():
            register_copy(module.context)
            export_ops(module, attributes, complete=self.complete)
            self._capture_invariants(module, attributes)
            writer = _Writer(module.codec, attributes, complete=self.complete)
            for function in module.ops(FUNCTION):
                writer.write_function(function)
            for mesh in module.ops(MESH):
                mesh.erase()
        module.ops_changed()
        module.meshes_changed()

    def _capture_invariants(self, module: IndexedModule, attributes: HloShardingAttributes) -> None:
        for loop in module.ops(_LOOP):
            is_marked = SHARDING in loop.attributes
            if is_marked or (self.complete and HLO_SHARDING not in loop.attributes):
                capture_invariants(loop, module.codec, attributes)


class _Writer:
    """Writes `mhlo.sharding` where `sdy.sharding` was."""

    def __init__(
        self, codec: AttributeCodec, attributes: HloShardingAttributes, *, complete: bool
    ) -> None:
        self._codec = codec
        self._attributes = attributes
        self._complete = complete

    def write_function(self, function: ir.Operation) -> None:
        """Write the shardings of a function's arguments and results, and of the ops in it."""
        kind = signature(function)
        self._write_signature(function, "arg_attrs", kind.inputs)
        self._write_signature(function, "res_attrs", kind.results)
        for op in _ops_on_tensors(function):
            self._write_op(op)

    def _write_signature(
        self, function: ir.Operation, field: Field, types: Sequence[ir.Type]
    ) -> None:
        if types and (self._complete or field in function.attributes):
            entries = zip(signature_entries(function, field), types, strict=True)
            new = [self._entry(function, *entry) for entry in entries]
            set_signature_entries(function, field, new)

    def _entry(
        self, function: ir.Operation, entry: ir.DictAttr, value_type: ir.Type
    ) -> ir.DictAttr:
        named = named_attributes(entry)
        sharding = named.get(SHARDING)
        kept = {name: attr for name, attr in named.items() if not _is_sdy(name)}
        if sharding is not None and self._is_known(sharding):
            kept[HLO_SHARDING] = self._attributes.of_tensor(function, sharding)
        elif self._complete and HLO_SHARDING not in kept and _is_tensor(value_type):
            kept[HLO_SHARDING] = self._attributes.replicated()
        return ir.DictAttr.get(kept)

    def _is_known(self, sharding: ir.Attribute) -> bool:
        return self._complete or not says_nothing(self._codec.sharding(sharding))

    def _write_op(self, op: ir.Operation) -> None:
        attributes = op.attributes
        sharding = attributes.get(SHARDING)
        if sharding is not None:
            if self._complete or not all(map(says_nothing, self._codec.shardings(sharding))):
                attributes[HLO_SHARDING] = self._attributes.of_results(op, sharding)
        elif self._complete and HLO_SHARDING not in attributes:
            self._write_missing(op)
        _drop_sdy(op)

    def _write_missing(self, op: ir.Operation) -> None:
        if op.name in _ON_ONE_DEVICE:
            op.attributes[HLO_SHARDING] = self._attributes.maximal()
            return
        results = op.results
        if len(results) and all(_is_tensor(result.type) for result in results):
            op.attributes[HLO_SHARDING] = self._attributes.replicated(len(results))


def _ops_on_tensors(function: ir.Operation) -> list[ir.Operation]:
    """Return the ops of a function that XLA's partitioner sees, parents first.

    Attributes of the sdy dialect on the others are dropped.
    """
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        name = op.name
        if name == FUNCTION:
            return ir.WalkResult.ADVANCE
        found.append(op)
        if name in _CONTROL_FLOW or not len(op.regions):
            return ir.WalkResult.ADVANCE
        _drop_sdy_within(op)
        return ir.WalkResult.SKIP

    function.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _is_tensor(value_type: ir.Type) -> bool:
    return isinstance(value_type, ir.RankedTensorType)


def _is_sdy(attribute: str) -> bool:
    return attribute.startswith("sdy.")


def _drop_sdy(op: ir.Operation) -> None:
    for name in [name for name in op.attributes if _is_sdy(name)]:
        del op.attributes[name]


def _drop_sdy_within(op: ir.Operation) -> None:
    """Drop attributes of the sdy dialect in the regions of an op."""

    def visit(nested: ir.Operation) -> ir.WalkResult:
        if nested != op:
            _drop_sdy(nested)
        return ir.WalkResult.ADVANCE

    op.walk(visit)
