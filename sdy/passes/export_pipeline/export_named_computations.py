"""Turns named computations into calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.ir.attributes import SHARDING
from sdy.ir.call_graph import ORIGINAL_NAME
from sdy.ir.data_flow import DATA_FLOW_EDGE, NAMED_COMPUTATION
from sdy.ir.data_flow_edges import block_argument_edge_owners, edge_shardings
from sdy.ir.function_shardings import set_argument_shardings
from sdy.ir.named_computations import (
    EXECUTION_THREAD,
    discardable_attributes,
    in_post_order,
    move_body,
)
from sdy.ir.op_names import CALL, FUNCTION, RETURN
from sdy.ir.replacement import create_for
from sdy.ir.symbols import SymbolNames
from sdy.passes.base import Pass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["ExportNamedComputations"]


@dataclass(frozen=True, slots=True)
class ExportNamedComputations(Pass):
    """Replaces every `sdy.named_computation` by a call of a new private function.

    The function has the name of the named computation, with a suffix where it is taken, and the
    shardings of the body's arguments; the call has those of the results. Where there are
    data-flow edges, theirs count, and the edges go.
    """

    name: ClassVar[str] = "sdy-export-named-computations"

    def run(self, module: IndexedModule) -> None:
        """Export the named computations in place, the inner ones first."""
        computations = module.ops(NAMED_COMPUTATION)
        if not computations:
            return
        exporter = _Exporter(module)
        calls = [exporter.export(op) for op in in_post_order(computations)]
        for call in calls:
            _drop_edges(call.results)
        module.ops_changed()


class _Exporter:
    def __init__(self, module: IndexedModule) -> None:
        self._codec = module.codec
        self._names = SymbolNames(module)
        self._end = ir.InsertionPoint(module.module.body)

    def export(self, op: ir.Operation) -> ir.Operation:
        """Replace a named computation and return the call."""
        attributes = discardable_attributes(op)
        thread = attributes.pop(EXECUTION_THREAD, None)
        out_shardings = _shardings(op, "out_shardings", op.results, self._codec)
        if out_shardings is not None:
            attributes[SHARDING] = out_shardings
        attributes["callee"] = ir.FlatSymbolRefAttr.get(self._function(op, thread))
        call = create_for(op, CALL, attributes)
        for old, new in zip(op.results, call.results, strict=True):
            old.replace_all_uses_with(new)
        op.erase()
        return call

    def _function(self, op: ir.Operation, thread: ir.Attribute | None) -> str:
        """Move the body to a new function at the end of the module; return its name."""
        arguments = block_argument_edge_owners(op)
        in_shardings = _shardings(op, "in_shardings", arguments, self._codec)
        original_name = op.attributes["name"]
        name = self._names.claim(ir.StringAttr(original_name).value)
        types = [argument.type for argument in arguments], [result.type for result in op.results]
        attributes = {
            "sym_name": ir.StringAttr.get(name),
            "sym_visibility": ir.StringAttr.get("private"),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(*types)),
            ORIGINAL_NAME: original_name,
        }
        if thread is not None:
            attributes[EXECUTION_THREAD] = thread
        function = ir.Operation.create(
            FUNCTION, attributes=attributes, regions=1, loc=op.location, ip=self._end
        )
        move_body(op, function, RETURN)
        _drop_edges(block_argument_edge_owners(function))
        if in_shardings is not None:
            shardings = self._codec.shardings(in_shardings)
            set_argument_shardings(function, shardings, self._codec)
        return name


def _shardings(
    op: ir.Operation, field: str, owners: Sequence[ir.Value], codec: AttributeCodec
) -> ir.Attribute | None:
    """Return the shardings of the owners' edges; those of the op where no edge has one."""
    shardings = edge_shardings(owners, codec)
    if shardings:
        return codec.list_attribute(shardings)
    return op.attributes.get(field)


def _drop_edges(owners: Sequence[ir.Value]) -> None:
    for owner in owners:
        newest = next(iter(owner.uses), None)
        if newest is not None and newest.owner.operation.name == DATA_FLOW_EDGE:
            edge = newest.owner.operation
            edge.result.replace_all_uses_with(owner)
            edge.erase()
