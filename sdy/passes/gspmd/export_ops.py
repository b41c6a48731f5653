"""Ops of the sdy dialect become those that XLA's partitioner has for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _mlirHlo

from sdy.ir.attributes import SHARDING
from sdy.ir.constants import copy_constant_as
from sdy.ir.diagnostics import op_error
from sdy.ir.op_names import (
    ALL_GATHER,
    ALL_REDUCE,
    ALL_SLICE,
    ALL_TO_ALL,
    BARRIER,
    COLLECTIVE_PERMUTE,
    CONSTRAINT,
    GROUP,
    MHLO_COPY,
    REDUCE_SCATTER,
    RESHARD,
    SDY_CONSTANT,
)
from sdy.ir.sharding_access import SHARDING_FIELDS
from sdy.passes.base import Pass, option
from sdy.passes.gspmd.hlo_shardings import says_nothing
from sdy.passes.gspmd.xla_names import CUSTOM_CALL, SHARDING_TARGET

if TYPE_CHECKING:
    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["ExportOps", "create_constraint", "export_constants", "register_copy"]

_CONSTRAINTS = (RESHARD, CONSTRAINT)
_COLLECTIVES = (ALL_GATHER, ALL_SLICE, ALL_TO_ALL, COLLECTIVE_PERMUTE, REDUCE_SCATTER)
# The partitioner itself adds the all-reduce that a contraction over a split dimension needs.
_IDENTITIES = (BARRIER, ALL_REDUCE)


@dataclass(frozen=True, slots=True)
class ExportOps(Pass):
    """Replaces ops of the sdy dialect by ops that XLA's partitioner reads.

    Constants become StableHLO's; reshards, constraints and collectives that move data become
    copies with a sharding; all-reduces and propagation barriers go, as the partitioner adds the
    former itself and does not propagate.
    """

    name: ClassVar[str] = "xla-sdy-export-ops"

    keep_hlo_sharding_constraints: bool = option(
        False, "Whether reshards and constraints become @Sharding custom calls, not copies."
    )
    keep_open: bool = option(
        False,
        "Whether the module was not propagated: constraints that say nothing go, and ops that only "
        "propagation obeys are errors.",
        in_shardy=False,
    )

    def run(self, module: IndexedModule) -> None:
        """Replace the ops in place."""
        if self.keep_open:
            _refuse_propagation_hints(module)
            _drop_constraints_that_say_nothing(module)
        register_copy(module.context)
        for name in (*_CONSTRAINTS, *_COLLECTIVES):
            as_call = self.keep_hlo_sharding_constraints and name in _CONSTRAINTS
            for op in module.ops(name):
                _export_constraint(op, module.codec, as_call=as_call)
        export_constants(module)
        for name in _IDENTITIES:
            for op in module.ops(name):
                op.results[0].replace_all_uses_with(op.operands[0])
                op.erase()
        module.ops_changed()


def _refuse_propagation_hints(module: IndexedModule) -> None:
    for name in (GROUP, BARRIER):
        for op in module.ops(name):
            raise op_error(op, f"'{name}' cannot be exported to GSPMD: propagate first")


def _drop_constraints_that_say_nothing(module: IndexedModule) -> None:
    for name in _CONSTRAINTS:
        for op in module.ops(name):
            if says_nothing(_sharding_of(op, module.codec)):
                op.results[0].replace_all_uses_with(op.operands[0])
                op.erase()
    module.ops_changed()


def _export_constraint(op: ir.Operation, codec: AttributeCodec, *, as_call: bool) -> None:
    attributes = {SHARDING: codec.list_attribute((_sharding_of(op, codec),))}
    new = create_constraint(op, op.operands[0], attributes, as_call=as_call)
    op.results[0].replace_all_uses_with(new.results[0])
    op.erase()


def _sharding_of(op: ir.Operation, codec: AttributeCodec) -> TensorSharding:
    return codec.sharding(op.attributes[SHARDING_FIELDS[op.name]])


def create_constraint(
    before: ir.Operation,
    value: ir.Value,
    attributes: dict[str, ir.Attribute],
    *,
    as_call: bool,
) -> ir.Operation:
    """Create a copy of a value, or a `@Sharding` custom call on it, before an op.

    Args:
      before: the op, whose location the new one has.
      value: the operand.
      attributes: say how the result is sharded.
      as_call: whether to make a custom call.

    """
    if as_call:
        target = ir.StringAttr.get(SHARDING_TARGET, before.context)
        attributes = {"call_target_name": target, **attributes}
    return ir.Operation.create(
        CUSTOM_CALL if as_call else MHLO_COPY,
        results=[value.type],
        operands=[value],
        attributes=attributes,
        loc=before.location,
        ip=ir.InsertionPoint(before),
    )


def export_constants(module: IndexedModule) -> None:
    """Replace every `sdy.constant` by a `stablehlo.constant`; the index is left as it was."""
    for op in module.ops(SDY_CONSTANT):
        constant = copy_constant_as("stablehlo.constant", op)
        op.result.replace_all_uses_with(constant.result)
        op.erase()


def register_copy(context: ir.Context) -> None:
    """Make `mhlo.copy` known to a context; it is in no other dialect."""
    if not context.is_registered_operation(MHLO_COPY):
        _mlirHlo.register_mhlo_dialect(context)
