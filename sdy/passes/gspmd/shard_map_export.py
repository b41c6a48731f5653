"""Manual computations become what XLA's partitioner reads: calls between custom calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.dialect.manual_axes import erase_manual_axes
from sdy.dialect.sharding import TensorSharding
from sdy.ir.attributes import SHARDING
from sdy.ir.data_flow import MANUAL_COMPUTATION, region_terminator
from sdy.ir.diagnostics import op_error
from sdy.ir.op_names import CALL, RETURN
from sdy.ir.op_traits import is_terminator
from sdy.ir.signature_attributes import named_attributes, set_signature_entries, signature_entries
from sdy.ir.symbols import SymbolNames
from sdy.ir.types import rank
from sdy.ir.values import signature
from sdy.passes.base import Pass, option
from sdy.passes.gspmd.export_ops import create_constraint, register_copy
from sdy.passes.gspmd.manual_axes_attribute import manual_axes_attribute
from sdy.passes.gspmd.manual_bodies import inline_body, outline_body
from sdy.passes.gspmd.manual_hierarchy import (
    LocalCode,
    ManualHierarchy,
    ManualScope,
    first_sharding,
)
from sdy.passes.gspmd.xla_names import (
    BODY_FUNCTION,
    FULL_TO_SHARD,
    MANUAL_AXES,
    SHARD_TO_FULL,
    create_custom_call,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule
    from sdy.ir.signature_attributes import Field

__all__ = ["ShardMapExport"]


@dataclass(frozen=True, slots=True)
class ShardMapExport(Pass):
    """Replaces every manual computation by ops that XLA's partitioner reads.

    Each operand is copied with the sharding that it has outside, and handed to a custom call
    `@SPMDFullToShardShape`, which is local from there on; the body becomes a function, which is
    called; each result is copied as it is inside and handed to `@SPMDShardToFullShape`. All that is
    local gets `xla.sdy.manual_axes`, and a closed sharding where it had none. A function that is
    called in a manual computation and elsewhere too gets a copy for each.
    """

    name: ClassVar[str] = "xla-sdy-stablehlo-round-trip-shard-map-export"

    create_hlo_sharding_constraints: bool = option(
        False, "Whether @Sharding custom calls are made in place of copies."
    )

    def run(self, module: IndexedModule) -> None:
        """Replace the manual computations in place, the inner ones first."""
        computations = module.ops(MANUAL_COMPUTATION)
        if not computations:
            return
        register_copy(module.context)
        hierarchy = ManualHierarchy(module)
        _mark(hierarchy, module.codec, module.context)
        exporter = _Exporter(module, as_call=self.create_hlo_sharding_constraints)
        for scope in hierarchy.scopes_inside_out():
            exporter.export(scope)
        module.ops_changed()


def _mark(hierarchy: ManualHierarchy, codec: AttributeCodec, context: ir.Context) -> None:
    """Say of all that is local how it is sharded, and along which axes it is local."""
    codes = {code for _, code in (*hierarchy.local_ops, *hierarchy.local_functions)}
    attributes = {code: manual_axes_attribute(code.axes, context) for code in codes}
    for function, code in hierarchy.local_functions:
        kind = signature(function)
        _mark_signature(function, "arg_attrs", kind.inputs, code, codec)
        _mark_signature(function, "res_attrs", kind.results, code, codec)
    for op, code in hierarchy.local_ops:
        name = op.name
        if name == RETURN:
            continue
        _set_sharding(op, code, codec, ends_block=is_terminator(name))
        op.attributes[MANUAL_AXES] = attributes[code]


def _mark_signature(
    function: ir.Operation,
    field: Field,
    types: Sequence[ir.Type],
    code: LocalCode,
    codec: AttributeCodec,
) -> None:
    if not types:
        return
    entries = signature_entries(function, field)
    shardings = [
        entry[SHARDING]
        if SHARDING in entry
        else codec.attribute(TensorSharding.fully_closed(code.mesh, rank(type_)))
        for entry, type_ in zip(entries, types, strict=True)
    ]
    _set_local_entries(function, field, shardings, code.axes)


def _set_local_entries(
    function: ir.Operation,
    field: Field,
    shardings: Sequence[ir.Attribute],
    axes: tuple[str, ...],
) -> None:
    entries = signature_entries(function, field)
    manual = {MANUAL_AXES: manual_axes_attribute(axes, function.context)} if axes else {}
    changed = [
        ir.DictAttr.get(
            named_attributes(entry) | {SHARDING: sharding} | manual, context=function.context
        )
        for entry, sharding in zip(entries, shardings, strict=True)
    ]
    set_signature_entries(function, field, changed)


def _set_sharding(
    op: ir.Operation, code: LocalCode, codec: AttributeCodec, *, ends_block: bool
) -> None:
    per_value = op.attributes.get(SHARDING)
    if per_value is not None and _is_on_mesh(op, codec.shardings(per_value), code):
        return
    ranks = [rank(result.type) for result in op.results]
    if not ranks and not ends_block:
        # An op without results says on which devices it runs.
        ranks = [0]
    if ranks:
        closed = tuple(TensorSharding.fully_closed(code.mesh, each) for each in ranks)
        op.attributes[SHARDING] = codec.list_attribute(closed)
    elif per_value is not None:
        del op.attributes[SHARDING]


def _is_on_mesh(op: ir.Operation, shardings: Iterable[TensorSharding], code: LocalCode) -> bool:
    """Return whether an op is sharded on the mesh of the code around it.

    One without axes, such as that of a single device, gives way to that; another is an error.
    """
    others = [sharding for sharding in shardings if sharding.mesh != code.mesh]
    if any(not sharding.has_no_axes for sharding in others):
        raise op_error(op, f"in a manual computation on another mesh: {others[0]}")
    return not others


class _Exporter:
    def __init__(self, module: IndexedModule, *, as_call: bool) -> None:
        self._codec = module.codec
        self._context = module.context
        self._as_call = as_call
        self._names = SymbolNames(module)
        self._end = ir.InsertionPoint(module.module.body)

    def export(self, scope: ManualScope) -> None:
        """Replace a manual computation."""
        op = scope.op
        if first_sharding(op, self._codec) is None:
            inline_body(op)
            return
        outer = scope.around.axes if scope.around is not None else ()
        inner = scope.body.axes if scope.body is not None else ()
        operands = self._full_to_shard(op, outer, inner)
        results = region_terminator(op.regions[0]).operands
        types = [result.type for result in results]
        call = self._call(op, operands, types, inner)
        self._shard_to_full(op, call, outer, inner)
        op.erase()

    def _full_to_shard(
        self, op: ir.Operation, outer: tuple[str, ...], inner: tuple[str, ...]
    ) -> list[ir.Value]:
        shardings = self._codec.shardings(op.attributes["in_shardings"])
        arguments = op.regions[0].blocks[0].arguments
        return [
            self._change_shape(
                FULL_TO_SHARD,
                op,
                (operand, sharding, outer),
                (argument.type, erase_manual_axes(sharding, frozenset(inner)), inner),
            )
            for operand, argument, sharding in zip(op.operands, arguments, shardings, strict=True)
        ]

    def _shard_to_full(
        self, op: ir.Operation, call: ir.Operation, outer: tuple[str, ...], inner: tuple[str, ...]
    ) -> None:
        shardings = self._codec.shardings(op.attributes["out_shardings"])
        for old, local, sharding in zip(op.results, call.results, shardings, strict=True):
            new = self._change_shape(
                SHARD_TO_FULL,
                op,
                (local, erase_manual_axes(sharding, frozenset(inner)), inner),
                (old.type, sharding, outer),
            )
            old.replace_all_uses_with(new)

    def _change_shape(
        self,
        target: str,
        op: ir.Operation,
        source: tuple[ir.Value, TensorSharding, tuple[str, ...]],
        result: tuple[ir.Type, TensorSharding, tuple[str, ...]],
    ) -> ir.Value:
        """Return a value in its other shape; one that is no tensor, such as a token, has but one.

        Args:
          target: of the custom call.
          op: the manual computation, before which the new ops come.
          source: the value, its sharding and manual axes.
          result: the type, sharding and manual axes of what becomes of it.

        """
        value, sharding, axes = source
        type_, new_sharding, new_axes = result
        if not isinstance(value.type, ir.ShapedType):
            return value
        attributes = self._attributes((sharding,), axes)
        constraint = create_constraint(op, value, attributes, as_call=self._as_call)
        call = create_custom_call(
            target,
            [type_],
            [constraint.results[0]],
            self._attributes((new_sharding,), new_axes),
            ir.InsertionPoint(op),
            op.location,
        )
        return call.results[0]

    def _attributes(
        self, shardings: tuple[TensorSharding, ...], axes: tuple[str, ...]
    ) -> dict[str, ir.Attribute]:
        attributes = {SHARDING: self._codec.list_attribute(shardings)} if shardings else {}
        if axes:
            attributes[MANUAL_AXES] = manual_axes_attribute(axes, self._context)
        return attributes

    def _call(
        self,
        op: ir.Operation,
        operands: Sequence[ir.Value],
        types: Sequence[ir.Type],
        axes: tuple[str, ...],
    ) -> ir.Operation:
        """Move the body to a function and return a call of it."""
        name = self._names.claim(BODY_FUNCTION)
        function = outline_body(op, name, self._end)
        local = {
            field: tuple(
                erase_manual_axes(sharding, frozenset(axes))
                for sharding in self._codec.shardings(op.attributes[field])
            )
            for field in ("in_shardings", "out_shardings")
        }
        signature_fields: tuple[tuple[Field, str], ...] = (
            ("arg_attrs", "in_shardings"),
            ("res_attrs", "out_shardings"),
        )
        for field, shardings in signature_fields:
            if local[shardings]:
                _set_local_entries(
                    function, field, list(map(self._codec.attribute, local[shardings])), axes
                )
        return ir.Operation.create(
            CALL,
            results=list(types),
            operands=list(operands),
            attributes={
                "callee": ir.FlatSymbolRefAttr.get(name, self._context),
                **self._attributes(local["out_shardings"], axes),
            },
            loc=op.location,
            ip=ir.InsertionPoint(op),
        )
