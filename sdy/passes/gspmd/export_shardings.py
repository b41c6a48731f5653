"""Shardings of the sdy dialect become the `mhlo.sharding` attributes of XLA's partitioner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from jaxlib.mlir import ir

from sdy.ir.attributes import SHARDING
from sdy.ir.data_flow import DATA_FLOW_EDGE
from sdy.ir.diagnostics import op_error
from sdy.ir.op_names import FUNC_EDGE, FUNCTION, MESH
from sdy.ir.replica_groups import list_groups
from sdy.ir.signature_attributes import named_attributes, set_signature_entries, signature_entries
from sdy.ir.values import signature
from sdy.passes.base import Pass, option
from sdy.passes.gspmd.hlo_shardings import HloShardingAttributes, says_nothing, unspecified_dims
from sdy.passes.gspmd.manual_axes_attribute import read_manual_axes
from sdy.passes.gspmd.xla_names import (
    CUSTOM_CALL,
    FULL_TO_SHARD,
    HLO_SHARDING,
    MANUAL_AXES,
    SHARD_TO_FULL,
    SHARDING_TARGET,
    target_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule
    from sdy.ir.signature_attributes import Field

__all__ = ["ExportShardings"]

# In the regions of these ops XLA's partitioner sees tensors like any other; regions of all
# other ops, such as the body of a reduce, work on scalars of one device.
_CONTROL_FLOW = frozenset({"stablehlo.while", "stablehlo.case", "stablehlo.if"})
# The partitioner refuses these without a sharding, and a replicated one too.
_ON_ONE_DEVICE = frozenset({"stablehlo.send", "stablehlo.recv", "stablehlo.create_token"})
# StableHLO has no ops for these: XLA takes the attributes of the op from a dictionary.
_OPS_AS_CALLS = frozenset({"mhlo.erf", "mhlo.topk"})
_OP_ATTRIBUTES = "mhlo.attributes"
_MAY_BE_UNSPECIFIED = frozenset({SHARDING_TARGET, FULL_TO_SHARD, SHARD_TO_FULL})

# For each attribute of a module that says how @main is sharded: what XLA calls it.
_OF_PARAMETERS = ("sdy.parameters_shardings", "mhlo.spmd_parameters_shardings")
_OF_OUTPUTS = ("sdy.output_shardings", "mhlo.spmd_output_sharding")

_REMEDIES: Final = {
    DATA_FLOW_EDGE: "run sdy-sink-data-flow-edges first",
    FUNC_EDGE: "run sdy-sink-func-data-flow-edges first",
}


@dataclass(frozen=True, slots=True)
class ExportShardings(Pass):
    """Turns shardings into the `mhlo.sharding` attributes of XLA's SPMD partitioner.

    Arguments, results and ops get their HloSharding, in which the axes of `xla.sdy.manual_axes`
    are manual; meshes and all sdy attributes go. Ops of the sdy dialect are errors: they are to
    be exported before.
    """

    name: ClassVar[str] = "xla-sdy-stablehlo-export-shardings"

    add_missing_sharding_to_control_flow: bool = option(
        False, "Whether loops and branches without a sharding are replicated."
    )
    enable_hlo_sharding_v3: bool = option(
        False, "Whether the HloShardings name their mesh and axes."
    )
    simplify_replicated_shardings: bool = option(
        False, "Whether those with names leave the mesh out where nothing is split."
    )
    replicate_missing: bool = option(
        False, "Whether all that has no sharding is replicated.", in_shardy=False
    )
    keep_open: bool = option(
        False,
        "Whether open dimensions are left to GSPMD, as is what a sharding says nothing of.",
        in_shardy=False,
    )

    def run(self, module: IndexedModule) -> None:
        """Write the shardings in place, then drop what is left of the dialect."""
        _refuse_ops(module)
        writer = _Writer(self, module.codec, module.context)
        for function in module.ops(FUNCTION):
            writer.write_function(function)
        writer.write_module(module.operation)
        list_groups(module)
        for mesh in module.ops(MESH):
            mesh.erase()
        module.ops_changed()
        module.meshes_changed()


def _refuse_ops(module: IndexedModule) -> None:
    """Raise `sdy.Error` at the first op of the sdy dialect but meshes."""
    for name, ops in module.ops_by_name.items():
        if name.startswith("sdy.") and name != MESH and ops:
            remedy = _REMEDIES.get(name, "no op of XLA stands for it")
            raise op_error(ops[0], f"'{name}' cannot be exported to GSPMD: {remedy}")


class _Writer:
    """Writes `mhlo.sharding` where `sdy.sharding` was."""

    def __init__(
        self, options: ExportShardings, codec: AttributeCodec, context: ir.Context
    ) -> None:
        self._options = options
        self._codec = codec
        self._context = context
        self._attributes = HloShardingAttributes(
            codec,
            context,
            with_names=options.enable_hlo_sharding_v3,
            simplify_replicated=options.simplify_replicated_shardings,
        )

    def write_module(self, module: ir.Operation) -> None:
        """Write what the module says of the parameters and the outputs of its entry."""
        old, new = _OF_PARAMETERS
        if old in module.attributes:
            shardings = self._codec.shardings(module.attributes[old])
            of_each = [
                self._attributes.of_tensor(module, self._codec.attribute(sharding))
                for sharding in shardings
            ]
            module.attributes[new] = ir.ArrayAttr.get(of_each, self._context)
            del module.attributes[old]
        old, new = _OF_OUTPUTS
        if old in module.attributes:
            module.attributes[new] = self._attributes.of_results(module, module.attributes[old])
            del module.attributes[old]

    def write_function(self, function: ir.Operation) -> None:
        """Write the shardings of a function's arguments and results, and of the ops in it."""
        kind = signature(function)
        self._write_signature(function, "arg_attrs", kind.inputs)
        self._write_signature(function, "res_attrs", kind.results)
        _drop_attributes_of_sdy(function)
        self._write_below(function)

    def _write_signature(
        self, function: ir.Operation, field: Field, types: Sequence[ir.Type]
    ) -> None:
        if types and (self._options.replicate_missing or field in function.attributes):
            entries = zip(signature_entries(function, field), types, strict=True)
            new = [self._entry(function, *entry) for entry in entries]
            set_signature_entries(function, field, new)

    def _entry(
        self, function: ir.Operation, entry: ir.DictAttr, value_type: ir.Type
    ) -> ir.DictAttr:
        named = named_attributes(entry)
        sharding = named.get(SHARDING)
        manual = read_manual_axes(named.get(MANUAL_AXES))
        kept = {name: attr for name, attr in named.items() if not _is_of_sdy(name)}
        if sharding is not None and self._is_known(sharding, manual):
            kept[HLO_SHARDING] = self._attributes.of_tensor(function, sharding, manual)
        elif (
            self._options.replicate_missing and HLO_SHARDING not in kept and _is_tensor(value_type)
        ):
            kept[HLO_SHARDING] = self._attributes.replicated()
        return ir.DictAttr.get(kept, context=self._context)

    def _is_known(self, sharding: ir.Attribute, manual: tuple[str, ...]) -> bool:
        is_left_out = self._options.keep_open and not manual
        return not is_left_out or not says_nothing(self._codec.sharding(sharding))

    def _write_below(self, function: ir.Operation) -> None:
        def visit(op: ir.Operation) -> ir.WalkResult:
            if op.name != FUNCTION:
                self._write_op(op)
            return ir.WalkResult.ADVANCE

        function.walk(visit, ir.WalkOrder.PRE_ORDER)

    def _write_op(self, op: ir.Operation) -> None:
        attributes = op.attributes
        sharding = attributes.get(SHARDING)
        if sharding is not None:
            manual = read_manual_axes(attributes.get(MANUAL_AXES))
            self._write_sharding(op, sharding, manual)
        elif HLO_SHARDING not in attributes:
            self._write_missing(op)
        _drop_attributes_of_sdy(op)
        if op.name == CUSTOM_CALL and target_of(op) in _OPS_AS_CALLS:
            _move_to_op_attributes(op)

    def _write_sharding(
        self, op: ir.Operation, per_value: ir.Attribute, manual: tuple[str, ...]
    ) -> None:
        if self._options.keep_open:
            shardings = self._codec.shardings(per_value)
            if not manual and all(map(says_nothing, shardings)):
                return
            opened = unspecified_dims(shardings[0])
            if opened and target_of(op) in _MAY_BE_UNSPECIFIED:
                op.attributes["backend_config"] = ir.StringAttr.get(opened, self._context)
        op.attributes[HLO_SHARDING] = self._attributes.of_results(op, per_value, manual)

    def _write_missing(self, op: ir.Operation) -> None:
        options = self._options
        if op.name in _ON_ONE_DEVICE and not options.keep_open:
            op.attributes[HLO_SHARDING] = self._attributes.maximal()
        elif options.replicate_missing:
            results = op.results
            is_seen = len(results) and all(_is_tensor(result.type) for result in results)
            if is_seen and _is_seen_by_partitioner(op):
                op.attributes[HLO_SHARDING] = self._attributes.replicated(len(results))
        elif options.add_missing_sharding_to_control_flow and op.name in _CONTROL_FLOW:
            op.attributes[HLO_SHARDING] = self._attributes.replicated()


def _is_seen_by_partitioner(op: ir.Operation) -> bool:
    """Return whether an op is in no region but those of functions and of control flow."""
    parent = op.parent
    return parent is not None and (
        parent.operation.name == FUNCTION
        or (parent.operation.name in _CONTROL_FLOW and _is_seen_by_partitioner(parent.operation))
    )


def _move_to_op_attributes(op: ir.Operation) -> None:
    if HLO_SHARDING in op.attributes and _OP_ATTRIBUTES in op.attributes:
        named = named_attributes(ir.DictAttr(op.attributes[_OP_ATTRIBUTES]))
        named[HLO_SHARDING] = op.attributes[HLO_SHARDING]
        op.attributes[_OP_ATTRIBUTES] = ir.DictAttr.get(named, context=op.context)
        del op.attributes[HLO_SHARDING]


def _is_tensor(value_type: ir.Type) -> bool:
    return isinstance(value_type, ir.RankedTensorType)


def _drop_attributes_of_sdy(op: ir.Operation) -> None:
    for name in [name for name in op.attributes if _is_of_sdy(name)]:
        del op.attributes[name]


def _is_of_sdy(attribute: str) -> bool:
    return attribute.startswith("sdy.") or attribute == MANUAL_AXES
