"""Which ops are visited again when a tensor's sharding changes, and in which order.

The order is MLIR's order of uses, seen through terminators, data-flow edges and calls. It
decides the answer where shardings come into conflict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from librt.vecs import vec
from mypy_extensions import i64

from sdy.ir.data_flow import DATA_FLOW_EDGE, DATA_FLOW_OPS
from sdy.ir.op_names import CALL, RETURN
from sdy.ir.op_traits import is_terminator
from sdy.ir.rows import filled
from sdy.ir.structure import NOTHING
from sdy.passes.propagation.data_flow import edge_of_use, non_owner_targets
from sdy.passes.propagation.op_classes import NO_CLASS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sdy.passes.propagation.data_flow import Calls
    from sdy.passes.propagation.graph import Graph
    from sdy.passes.propagation.op_classes import OpClasses
    from sdy.passes.propagation.tensors import Tensors

__all__ = ["Visits"]


class Visits:
    """The ops to visit after a change of a tensor, found once per tensor.

    For most tensors they are the op that gives it and its users, in the reverse order of the
    text; there `owners` tells, and `after_change` need not be asked.

    Attributes:
      owners: for those tensors the op that gives it or has it as an argument of a block; NOTHING
        for the others.
      leaves_some_out: whether `not_visited` has some for any tensor.

    """

    def __init__(self, graph: Graph, calls: Calls, tensors: Tensors, classes: OpClasses) -> None:
        self._graph = graph
        self._calls = calls
        self._classes = classes
        self._after: dict[int, tuple[int, ...]] = {}
        self._not_visited = self._find_not_visited(tensors)
        self.leaves_some_out = bool(self._not_visited)
        self._is_plain = {name: _is_plain(name) for name in graph.distinct_names}
        self.owners = self._owners_of_plain(len(tensors.shardings))

    def _owners_of_plain(self, tensor_count: int) -> vec[i64]:
        graph = self._graph
        names, producers = graph.name_numbers, graph.producers
        starts, users = graph.users.starts, graph.users.items
        is_plain = vec[i64]([int(self._is_plain[name]) for name in graph.distinct_names])
        is_edge = vec[i64]([int(name == DATA_FLOW_EDGE) for name in graph.distinct_names])
        owners = filled(NOTHING, tensor_count)
        for value in range(graph.value_count):
            plain: i64 = 1
            for place in range(starts[value], starts[value + 1]):
                plain &= is_plain[names[users[place]]]
            if plain == 0:
                continue
            owner = producers[value]
            if owner == NOTHING:
                owner = graph.owner(value)
            if is_edge[names[owner]] == 0:
                owners[value] = owner
        for value in graph.structure.use_orders:
            owners[value] = NOTHING
        return owners

    def after_change(self, tensor: int) -> tuple[int, ...]:
        """Return the ops to visit, in order; an op may stand there twice."""
        known = self._after.get(tensor)
        if known is None:
            of_op = self._classes.of_op
            affected = self._affected(tensor)
            known = tuple([op for op in affected if of_op[op] != NO_CLASS])
            self._after[tensor] = known
        return known

    def not_visited(self, tensor: int) -> tuple[int, ...]:
        """Return the ops that read the tensor, some of which its change has not visited again.

        They are the edges of block arguments, for a change outside, and what uses the block
        arguments of a loop that has no edges. They take part when their turn comes.
        """
        return self._not_visited.get(tensor, ())

    def _find_not_visited(self, tensors: Tensors) -> dict[int, tuple[int, ...]]:
        graph, of_op = self._graph, self._classes.of_op
        readers: dict[int, dict[int, None]] = {}
        for op in graph.ops_named(DATA_FLOW_EDGE):
            for source in self._classes.tensors[op][:-1]:
                readers.setdefault(source, {})[op] = None
        for value, tensor in tensors.aliases.items():
            for op in graph.users[value]:
                if of_op[op] != NO_CLASS:
                    readers.setdefault(tensor, {})[op] = None
        return {tensor: tuple(ops) for tensor, ops in readers.items()}

    def _affected(self, tensor: int) -> list[int]:
        graph = self._graph
        if tensor >= graph.value_count:  # a result of a function: nothing uses it
            return []
        affected: list[int] = []
        owner = graph.owner(tensor)
        if graph.names[owner] == DATA_FLOW_EDGE:
            for target in non_owner_targets(graph, graph.operands[owner][0]):
                self._add_users(target, affected)
        affected.append(owner)
        self._add_users(tensor, affected)
        return affected

    def _add_users(self, value: int, affected: list[int]) -> None:
        """Add the users of a value; in the place of a call or a return, those on its other side.

        Users that come twice count once: an op that waits keeps its place. So each value is gone
        through once, which ends where a function hands what it returned to itself.
        """
        seen: set[int] = set()
        pending: list[int | Iterator[tuple[int, int]]] = [value]
        while pending:
            top = pending.pop()
            if isinstance(top, int):
                if top in seen:
                    continue
                seen.add(top)
                top = iter(self._graph.structure.uses(top))
            values = self._add_until_call(top, affected)
            if values is not None:
                pending += [top, *reversed(values)]

    def _add_until_call(
        self, uses: Iterator[tuple[int, int]], affected: list[int]
    ) -> list[int] | None:
        """Add the ops of uses up to the first by a call or a return, or to the last.

        Returns the values on the other side of the call or return; None after the last use.
        """
        graph = self._graph
        for user, operand_number in uses:
            name = graph.names[user]
            if self._is_plain[name]:
                affected.append(user)
                continue
            terminates = is_terminator(name)
            if terminates or name in DATA_FLOW_OPS:
                edge = edge_of_use(graph, user, operand_number, is_terminator=terminates)
                if edge is not None:
                    affected.append(edge)
                    continue
            if name == RETURN:
                return self._results_of_calls(user, operand_number)
            if name == CALL:
                return self._argument_of_callee(user, operand_number)
            if not terminates:
                affected.append(user)
        return None

    def _argument_of_callee(self, call: int, index: int) -> list[int]:
        graph = self._graph
        bodies = graph.structure.bodies.get(self._calls.callee(call), [])
        return [first + index for first, _, _ in bodies]

    def _results_of_calls(self, terminator: int, index: int) -> list[int]:
        graph = self._graph
        function = graph.structure.parents[terminator]
        return [graph.results[call][index] for call in self._calls.calls_to(function)]


def _is_plain(name: str) -> bool:
    """Return whether a change of an op's operand has that op visited, and no other."""
    return not (is_terminator(name) or name in DATA_FLOW_OPS or name == CALL)
