"""Manual computations become calls that are carried through HLO unread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.dialect.manual_axes import erase_manual_axes
from sdy.ir.attributes import SHARDING
from sdy.ir.data_flow import MANUAL_COMPUTATION, region_terminator
from sdy.ir.named_computations import in_post_order
from sdy.ir.op_names import CALL
from sdy.ir.symbols import SymbolNames
from sdy.passes.base import Pass, option
from sdy.passes.gspmd.frontend_attributes import set_frontend_attributes
from sdy.passes.gspmd.manual_axes_attribute import read_manual_axes
from sdy.passes.gspmd.manual_bodies import outline_body
from sdy.passes.gspmd.xla_names import (
    GLOBAL_TO_LOCAL,
    IN_SHARDINGS,
    LOCAL_TO_GLOBAL,
    MANUAL_AXES,
    OUT_SHARDINGS,
    ROUND_TRIP_BODY_FUNCTION,
    SHARDING_TARGET,
    create_custom_call,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["RoundTripShardMapExport"]

# What XLA reads on a call: whether it may put the body in its place.
_INLINEABLE = "inlineable"


@dataclass(frozen=True, slots=True)
class RoundTripShardMapExport(Pass):
    """Replaces every manual computation by a call that `xla-sdy-round-trip-shard-map-import` reads.

    The body becomes a function, which nothing may inline; `@xla.sdy.GlobalToLocalShape` and
    `@xla.sdy.LocalToGlobalShape` change the shapes of operands and results, and say in frontend
    attributes how they are sharded. HloShardings with names, and `@Sharding` custom calls on the
    operands, say so themselves.
    """

    name: ClassVar[str] = "xla-sdy-round-trip-shard-map-export"

    enable_hlo_sharding_v3: bool = option(
        False, "Whether HloShardings will say how values are sharded, with names."
    )

    def run(self, module: IndexedModule) -> None:
        """Replace the manual computations in place, the inner ones first."""
        computations = module.ops(MANUAL_COMPUTATION)
        if not computations:
            return
        exporter = _Exporter(module, with_names=self.enable_hlo_sharding_v3)
        for op in in_post_order(computations):
            exporter.export(op)
        module.ops_changed()


class _Exporter:
    def __init__(self, module: IndexedModule, *, with_names: bool) -> None:
        self._codec = module.codec
        self._context = module.context
        self._names = SymbolNames(module)
        self._end = ir.InsertionPoint(module.module.body)
        self._with_names = with_names
        # Said to have effects so that two with the same operands stay two: they are sharded
        # otherwise.
        self._effects = {"has_side_effect": ir.BoolAttr.get(True, module.context)}

    def export(self, op: ir.Operation) -> None:
        """Replace a manual computation."""
        arguments = [argument.type for argument in op.regions[0].blocks[0].arguments]
        local_types = [value.type for value in region_terminator(op.regions[0]).operands]
        operands: Sequence[ir.Value] = list(op.operands)
        if operands:
            operands = self._global_to_local(op, operands, arguments)
        call = self._call(op, operands, local_types)
        results: Sequence[ir.Value] = list(call.results)
        if results:
            results = self._local_to_global(op, results)
        for old, new in zip(op.results, results, strict=True):
            old.replace_all_uses_with(new)
        op.erase()

    def _global_to_local(
        self, op: ir.Operation, operands: Sequence[ir.Value], types: Sequence[ir.Type]
    ) -> list[ir.Value]:
        in_shardings, manual = op.attributes["in_shardings"], op.attributes["manual_axes"]
        if not self._with_names:
            call = self._create(op, GLOBAL_TO_LOCAL, operands, types, {})
            set_frontend_attributes(call, {IN_SHARDINGS: in_shardings, MANUAL_AXES: manual})
            return list(call.results)
        shardings = self._codec.shardings(in_shardings)
        pairs = zip(operands, shardings, strict=True)
        operands = [self._constrained(op, operand, sharding) for operand, sharding in pairs]
        local = self._local(op, "in_shardings")
        return list(self._create(op, GLOBAL_TO_LOCAL, operands, types, local).results)

    def _local_to_global(self, op: ir.Operation, values: Sequence[ir.Value]) -> list[ir.Value]:
        types = [result.type for result in op.results]
        shardings = op.attributes["out_shardings"]
        said = {SHARDING: shardings} if self._with_names else {}
        call = self._create(op, LOCAL_TO_GLOBAL, values, types, said)
        if not self._with_names:
            manual = {MANUAL_AXES: op.attributes["manual_axes"]}
            set_frontend_attributes(call, {OUT_SHARDINGS: shardings} | manual)
        return list(call.results)

    def _constrained(self, op: ir.Operation, value: ir.Value, sharding: TensorSharding) -> ir.Value:
        if not isinstance(value.type, ir.ShapedType):
            return value
        said = {SHARDING: self._codec.list_attribute((sharding,))}
        return self._create(op, SHARDING_TARGET, [value], [value.type], said).results[0]

    def _local(self, op: ir.Operation, name: str) -> dict[str, ir.Attribute]:
        """Return what says how operands or results are sharded in the body."""
        manual = op.attributes["manual_axes"]
        axes = frozenset(read_manual_axes(manual))
        shardings = self._codec.shardings(op.attributes[name])
        local = tuple(erase_manual_axes(sharding, axes) for sharding in shardings)
        return {SHARDING: self._codec.list_attribute(local), MANUAL_AXES: manual}

    def _create(
        self,
        before: ir.Operation,
        target: str,
        operands: Sequence[ir.Value],
        types: Sequence[ir.Type],
        attributes: Mapping[str, ir.Attribute],
    ) -> ir.Operation:
        place = ir.InsertionPoint(before)
        attributes = {**self._effects, **attributes}
        return create_custom_call(target, types, operands, attributes, place, before.location)

    def _call(
        self, op: ir.Operation, operands: Sequence[ir.Value], types: Sequence[ir.Type]
    ) -> ir.Operation:
        name = self._names.claim(ROUND_TRIP_BODY_FUNCTION)
        outline_body(op, name, self._end, is_private=False)
        local = self._local(op, "out_shardings") if self._with_names and types else {}
        call = ir.Operation.create(
            CALL,
            results=list(types),
            operands=list(operands),
            attributes={"callee": ir.FlatSymbolRefAttr.get(name, self._context), **local},
            loc=op.location,
            ip=ir.InsertionPoint(op),
        )
        if operands or types:
            when = "xla_late" if self._with_names else "false"
            set_frontend_attributes(call, {_INLINEABLE: ir.StringAttr.get(when, self._context)})
        return call
