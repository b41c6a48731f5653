"""Data-flow edges and calls in a graph: which values are one tensor, and what flows where.

An edge joins sources to targets, one of which owns it; see `sdy.ir.data_flow`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.ir.call_graph import callee_name
from sdy.ir.data_flow import (
    CASE,
    DATA_FLOW_EDGE,
    DATA_FLOW_OPS,
    MANUAL_COMPUTATION,
    NAMED_COMPUTATION,
    OPTIMIZATION_BARRIER,
    WHILE,
)
from sdy.ir.op_names import CALL, FUNCTION
from sdy.ir.structure import NOTHING
from sdy.ir.symbols import symbol_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.passes.propagation.graph import Graph

__all__ = ["Calls", "edge_of_use", "edge_owner", "edge_sources", "non_owner_targets"]

_ARGUMENT_OWNERS = (MANUAL_COMPUTATION, NAMED_COMPUTATION)


def edge_sources(graph: Graph, owner: int) -> list[int]:
    """Return the sources of the edge that a value owns."""
    op, index = graph.owner(owner), graph.position(owner)
    name = graph.names[op]
    is_argument = graph.producers[owner] == NOTHING
    ends = [end for _, _, end in graph.structure.bodies.get(op, [])]
    if is_argument or name in (OPTIMIZATION_BARRIER, WHILE):
        places = [op] if is_argument or name == OPTIMIZATION_BARRIER else [op, ends[1]]
    else:
        places = ends if name == CASE else ends[:1]
    return [graph.operands[place][index] for place in places]


def non_owner_targets(graph: Graph, owner: int) -> list[int]:
    """Return the targets, other than the owner, of the edge that a value owns."""
    op = graph.owner(owner)
    if graph.names[op] != WHILE:
        return []
    return [first + graph.position(owner) for first, _, _ in graph.structure.bodies[op]]


def edge_owner(graph: Graph, target: int) -> int | None:
    """Return the owner of the edge that a value is a target of; None where there is none."""
    op = graph.owner(target)
    name = graph.names[op]
    if name not in DATA_FLOW_OPS:
        return None
    if graph.producers[target] == NOTHING and name not in _ARGUMENT_OWNERS:
        return graph.results[op][graph.position(target)] if name == WHILE else None
    return target


def edge_of_use(graph: Graph, user: int, number: int, *, is_terminator: bool) -> int | None:
    """Return the edge that an operand of `user` is a source of; None where there is none.

    An operand of a named or a manual computation gives none, though the edge of the block
    argument has it as its source: in Shardy such an edge is not visited again for a change of
    that operand, and the order of visits decides the answer.
    """
    op = graph.structure.parents[user] if is_terminator else user
    if op == NOTHING or graph.names[op] not in DATA_FLOW_OPS:
        return None
    if graph.names[op] in _ARGUMENT_OWNERS and not is_terminator:
        return None
    results = graph.results[op]
    users = graph.users[results[number]] if number < len(results) else []
    if len(users) == 1 and graph.names[users[0]] == DATA_FLOW_EDGE:
        return users[0]
    return None


class Calls:
    """The calls of a graph by callee, and its functions by symbol."""

    def __init__(self, graph: Graph) -> None:
        self._callees: dict[int, str] = {}
        self._functions: dict[str, int] = {}
        self._calls: dict[str, list[int]] = {}
        for op in graph.ops_named(FUNCTION):
            self._functions[symbol_name(graph.ops[op])] = op
        for op in graph.ops_named(CALL):
            callee = self._callees[op] = callee_name(graph.ops[op])
            self._calls.setdefault(callee, []).append(op)
        self._symbols = {function: symbol for symbol, function in self._functions.items()}

    def calls_to(self, function: int) -> Sequence[int]:
        """Return the calls of a function, in the order of the text."""
        return self._calls.get(self._symbols[function], ())

    def callee(self, call: int) -> int:
        """Return the function that a call calls."""
        return self._functions[self._callees[call]]
