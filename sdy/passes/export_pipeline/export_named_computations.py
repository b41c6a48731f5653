"""Turns named computations into calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from jaxlib.mlir import ir

from sdy.ir.attributes import SHARDING
from sdy.ir.call_graph import ORIGINAL_NAME
from sdy.ir.data_flow import DATA_FLOW_EDGE, MANUAL_COMPUTATION, NAMED_COMPUTATION
from sdy.ir.data_flow_edges import block_argument_edge_owners, edge_shardings
from sdy.ir.function_shardings import set_argument_shardings
from sdy.ir.named_computations import (
    EXECUTION_THREAD,
    discardable_attributes,
    in_post_order,
    move_body,
)
from sdy.ir.op_names import CALL, FUNCTION, RETURN, SDY_RETURN
from sdy.ir.replacement import create_for
from sdy.ir.symbols import SymbolNames
from sdy.passes.base import Pass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sdy.ir.indexed_module import IndexedModule
    from sdy.ir.op_index import Piece

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
        bodies, count = _bodies(module), module.op_count
        exporter = _Exporter(module)
        exported = [exporter.export(op) for op in in_post_order(computations)]
        for each in exported:
            exporter.drop_edges(each.call.results)
        if bodies is None:
            module.ops_changed()
            return
        bodies.sort(key=lambda body: body.stop)
        module.rearrange(_pieces(count, dict(zip(bodies, exported, strict=True)), exporter.dropped))


class _Exported(NamedTuple):
    """What a named computation became.

    Attributes:
      call: stands in its place.
      function: has its body.
      terminator: ends that.

    """

    call: ir.Operation
    function: ir.Operation
    terminator: ir.Operation


def _bodies(module: IndexedModule) -> list[range] | None:
    """Return from where to where named computations go, their terminators included.

    None where not every `sdy.return` ends the innermost computation around it.
    """
    ops = {
        position: op
        for name in (NAMED_COMPUTATION, MANUAL_COMPUTATION, SDY_RETURN)
        for position, op in zip(module.positions(name), module.read_ops(name), strict=True)
    }
    bodies: list[range] = []
    around: list[int] = []
    for position, op in sorted(ops.items()):
        if op.name != SDY_RETURN:
            around.append(position)
            continue
        if not around or op.parent != ops[around[-1]]:
            return None
        start = around.pop()
        if ops[start].name == NAMED_COMPUTATION:
            bodies.append(range(start, position + 1))
    return None if around else bodies


def _pieces(count: int, bodies: Mapping[range, _Exported], dropped: Iterable[int]) -> list[Piece]:
    """Return what stands in the module of `count` ops after the export, in text order."""
    starts = {body.start: exported for body, exported in bodies.items()}
    ends = {body.stop - 1: exported for body, exported in bodies.items()}
    outer: list[list[Piece]] = []
    current: list[Piece] = []
    functions: list[Piece] = []
    start = 0
    for position in sorted((*starts, *ends, *dropped)):
        current.append(range(start, position))
        start = position + 1
        if position in starts:
            current.append((CALL, starts[position].call))
            outer.append(current)
            current = [(FUNCTION, starts[position].function)]
        elif position in ends:
            functions += current
            functions.append((RETURN, ends[position].terminator))
            current = outer.pop()
    return [*current, range(start, count), *functions]


class _Exporter:
    """Replaces named computations.

    Attributes:
      dropped: the positions in the module of the data-flow edges that went.

    """

    def __init__(self, module: IndexedModule) -> None:
        self.dropped: list[int] = []
        self._codec = module.codec
        self._names = SymbolNames(module)
        self._end = ir.InsertionPoint(module.module.body)
        edges = module.read_ops(DATA_FLOW_EDGE), module.positions(DATA_FLOW_EDGE)
        # The hash of an op changes with the op, that of its result does not.
        self._positions = {edge.result: position for edge, position in zip(*edges, strict=True)}

    def export(self, op: ir.Operation) -> _Exported:
        """Replace a named computation."""
        attributes = discardable_attributes(op)
        thread = attributes.pop(EXECUTION_THREAD, None)
        out_shardings = edge_shardings(op.results, self._codec)
        if out_shardings:
            attributes[SHARDING] = self._codec.list_attribute(out_shardings)
        elif "out_shardings" in op.attributes:
            attributes[SHARDING] = op.attributes["out_shardings"]
        name, function, terminator = self._function(op, thread)
        attributes["callee"] = ir.FlatSymbolRefAttr.get(name)
        call = create_for(op, CALL, attributes)
        for old, new in zip(op.results, call.results, strict=True):
            old.replace_all_uses_with(new)
        op.erase()
        return _Exported(call, function, terminator)

    def _function(
        self, op: ir.Operation, thread: ir.Attribute | None
    ) -> tuple[str, ir.Operation, ir.Operation]:
        """Move the body to a new function at the end of the module.

        Returns the name of the function, the function and its terminator.
        """
        arguments = block_argument_edge_owners(op)
        in_shardings = edge_shardings(arguments, self._codec)
        if not in_shardings and "in_shardings" in op.attributes:
            in_shardings = self._codec.shardings(op.attributes["in_shardings"])
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
        terminator = move_body(op, function, RETURN)
        self.drop_edges(block_argument_edge_owners(function))
        if in_shardings:
            set_argument_shardings(function, in_shardings, self._codec)
        return name, function, terminator

    def drop_edges(self, owners: Sequence[ir.Value]) -> None:
        """Let the users of the owners' edges use the owners."""
        for owner in owners:
            newest = next(iter(owner.uses), None)
            if newest is not None and newest.owner.operation.name == DATA_FLOW_EDGE:
                edge = newest.owner.operation
                self.dropped.append(self._positions[edge.result])
                edge.result.replace_all_uses_with(owner)
                edge.erase()
