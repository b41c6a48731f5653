"""Along which axes each manual computation, and each function called in one, is local.

Manual computations nest, directly and through calls: the body of one is local along its own axes
and along those of all around it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.ir.call_graph import CallGraph, callee_name, set_callee
from sdy.ir.data_flow import MANUAL_COMPUTATION
from sdy.ir.named_computations import in_post_order
from sdy.ir.op_names import CALL
from sdy.ir.symbols import SYMBOL, SymbolNames, is_private
from sdy.passes.gspmd.manual_axes_attribute import read_manual_axes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["LocalCode", "ManualHierarchy", "ManualScope", "first_sharding"]


@dataclass(frozen=True, slots=True)
class LocalCode:
    """Where code is local.

    Attributes:
      mesh: the mesh, or its name.
      axes: its manual axes, those of outer manual computations first.

    """

    mesh: Mesh | str
    axes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ManualScope:
    """A manual computation and where it stands.

    Attributes:
      op: the manual computation.
      around: where the code around it is local; None where it is nowhere.
      body: where its body is; None where it is nowhere.

    """

    op: ir.Operation
    around: LocalCode | None
    body: LocalCode | None


class ManualHierarchy:
    """The manual computations of a module, and the ops that are local.

    A function that is called where the code is local, and also elsewhere, gets a copy for each.

    Attributes:
      scopes: the manual computations.
      local_ops: the ops that are local, those of the manual computations themselves left out.
      local_functions: the functions whose body, arguments and results are local.

    """

    def __init__(self, module: IndexedModule) -> None:
        self.scopes: list[ManualScope] = []
        self.local_ops: list[tuple[ir.Operation, LocalCode]] = []
        self.local_functions: list[tuple[ir.Operation, LocalCode]] = []
        self._module = module
        self._codec = module.codec
        self._names = SymbolNames(module)
        graph = CallGraph(module)
        self._functions = graph.functions
        self._global = _called_outside(graph)
        self._local: dict[str, LocalCode] = {}
        self._copies: dict[tuple[str, LocalCode], str] = {}
        for name in graph.pre_order():
            self._visit_function(graph.functions[name], self._local.get(name))

    def scopes_inside_out(self) -> list[ManualScope]:
        """Return the manual computations in text order, but each after those inside it."""
        # The hash of an op changes with its operands: nothing may change while this is in use.
        by_op = {scope.op: scope for scope in self.scopes}
        return [by_op[op] for op in in_post_order(self._module.ops(MANUAL_COMPUTATION))]

    def _body_of(self, op: ir.Operation, around: LocalCode | None) -> LocalCode | None:
        own = read_manual_axes(op.attributes["manual_axes"])
        if around is not None:
            return LocalCode(around.mesh, (*around.axes, *own))
        sharding = first_sharding(op, self._codec)
        return LocalCode(sharding.mesh, own) if sharding is not None and own else None

    def _visit_function(self, function: ir.Operation, local: LocalCode | None) -> None:
        if local is not None:
            self.local_functions.append((function, local))
        self._visit_regions(function, local)

    def _visit_regions(self, root: ir.Operation, local: LocalCode | None) -> None:
        # With a list in place of recursion, as regions may be nested deeper than Python's stack.
        pending = deque([(root, local)])
        while pending:
            parent, around = pending.pop()
            inner: list[tuple[ir.Operation, LocalCode | None]] = []
            for op in _ops_below(parent):
                if op.name == MANUAL_COMPUTATION:
                    scope = ManualScope(op, around, self._body_of(op, around))
                    self.scopes.append(scope)
                    inner.append((op, scope.body))
                    continue
                if around is not None:
                    self.local_ops.append((op, around))
                    if op.name == CALL:
                        self._claim_callee(op, around)
                if len(op.regions):
                    inner.append((op, around))
            pending.extend(reversed(inner))

    def _claim_callee(self, call: ir.Operation, local: LocalCode) -> None:
        """Make the callee local, or call a copy of it that is."""
        name = callee_name(call)
        function = self._functions.get(name)
        if function is None:
            return
        if name not in self._global and self._local.setdefault(name, local) == local:
            return
        copy = self._copies.get((name, local))
        if copy is None:
            copy = self._names.claim(name)
            self._copies[name, local] = copy
            clone = function.clone(ip=ir.InsertionPoint.after(function)).operation
            clone.attributes[SYMBOL] = ir.StringAttr.get(copy)
            self._module.ops_changed()
            self._visit_function(clone, local)
        set_callee(call, copy)


def _ops_below(op: ir.Operation) -> Iterator[ir.Operation]:
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner.operation


def _called_outside(graph: CallGraph) -> set[str]:
    """Return the functions that are reached without entering a manual computation."""
    called = {callee_name(call) for name in graph.functions for call in graph.calls_in(name)}
    roots = [n for n, op in graph.functions.items() if n not in called or not is_private(op)]
    reached = set(roots)
    while roots:
        calls = graph.calls_in(roots.pop())
        new = {callee_name(call) for call in calls if not _is_in_manual_computation(call)} - reached
        reached |= new
        roots.extend(new)
    return reached


def _is_in_manual_computation(op: ir.Operation) -> bool:
    parent = op.parent
    while parent is not None:
        if parent.operation.name == MANUAL_COMPUTATION:
            return True
        parent = parent.operation.parent
    return False


def first_sharding(op: ir.Operation, codec: AttributeCodec) -> TensorSharding | None:
    """Return the sharding of the first operand or result of a manual computation, if any."""
    for field in ("in_shardings", "out_shardings"):
        shardings = codec.shardings(op.attributes[field])
        if shardings:
            return shardings[0]
    return None
