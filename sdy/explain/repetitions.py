"""How often an op runs: turns of loops, and calls of functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.ir.call_graph import CallGraph, callee_name
from sdy.ir.data_flow import WHILE, region_terminator
from sdy.ir.op_names import FUNCTION
from sdy.ir.op_traits import CONSTANT_LIKE
from sdy.ir.symbols import symbol_name

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["Repetitions", "trip_count"]


class Repetitions:
    """How often each op of a module runs, and how often the partitioner sees it."""

    def __init__(self, module: IndexedModule) -> None:
        self._turns: dict[ir.Operation, int] = {}
        self._calls: dict[str, tuple[int, int]] = {}
        self._count_calls(module)

    def of(self, op: ir.Operation) -> tuple[int, int]:
        """Return how often an op runs in one run of the program, and how many copies XLA has.

        A loop of which the number of turns is not known counts as one turn, and each branch of
        a conditional as taken. XLA has a copy of a function's ops for each call.
        """
        turns, parent = 1, op.parent
        while parent is not None and parent.name != FUNCTION:
            if parent.name == WHILE:
                turns *= self._turns_of(parent.operation)
            parent = parent.operation.parent
        name = "" if parent is None else symbol_name(parent.operation)
        runs, copies = self._calls.get(name, (1, 1))
        return turns * runs, copies

    def _turns_of(self, loop: ir.Operation) -> int:
        if loop not in self._turns:
            self._turns[loop] = trip_count(loop) or 1
        return self._turns[loop]

    def _count_calls(self, module: IndexedModule) -> None:
        graph = CallGraph(module)
        for name in graph.pre_order():
            self._calls.setdefault(name, (1, 1))
            for call in graph.calls_in(name):
                runs, copies = self.of(call)
                callee = callee_name(call)
                before = self._calls.get(callee, (0, 0))
                self._calls[callee] = before[0] + runs, before[1] + copies


def trip_count(loop: ir.Operation) -> int | None:
    """Return the number of turns of a `stablehlo.while` that counts up to a constant.

    That is what JAX makes of `scan` and `fori_loop`. None for any other loop.
    """
    condition, body = loop.regions
    test = _definition(region_terminator(condition).operands[0])
    if (
        test is None
        or test.name != "stablehlo.compare"
        or "LT" not in str(test.attributes["comparison_direction"])
    ):
        return None
    counter, limit = test.operands
    if not isinstance(counter, ir.BlockArgument) or counter.owner != condition.blocks[0]:
        return None
    index = counter.arg_number
    step = _definition(region_terminator(body).operands[index])
    if step is None or step.name != "stablehlo.add":
        return None
    inside = body.blocks[0].arguments[index]
    added = [_constant(operand, loop) for operand in step.operands if operand != inside]
    start, end = _constant(loop.operands[index], loop), _constant(limit, loop)
    if len(added) != 1 or added[0] is None or added[0] < 1 or start is None or end is None:
        return None
    return max(0, -(-(end - start) // added[0]))


def _definition(value: ir.Value) -> ir.Operation | None:
    return value.owner.operation if isinstance(value, ir.OpResult) else None


def _constant(value: ir.Value, loop: ir.Operation) -> int | None:
    """Return the value of an integer constant, also of one that is carried through the loop."""
    if isinstance(value, ir.BlockArgument):
        is_carried = any(value.owner == region.blocks[0] for region in loop.regions)
        return _constant(loop.operands[value.arg_number], loop) if is_carried else None
    op = value.owner.operation
    if op.name not in CONSTANT_LIKE:
        return None
    try:
        elements = ir.DenseIntElementsAttr(op.attributes["value"])
    except (ValueError, TypeError):
        return None
    return int(elements[0]) if len(elements) == 1 else None
