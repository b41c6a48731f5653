"""Which ops are dead, and what becomes dead with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from librt.vecs import vec
from mypy_extensions import i64

from sdy.ir.op_traits import ERASABLE, TERMINATORS, erasable_when_unused
from sdy.ir.rows import filled
from sdy.ir.types import is_scalar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sdy.passes.propagation.graph import Graph

__all__ = ["DeadOps"]


class DeadOps:
    """The ops that MLIR's greedy driver erases when their turn comes: trivially dead ones.

    Attributes:
      is_dead: for each op 1 where it is to be erased, otherwise 0.
      is_erased: for each op 1 where it has been, otherwise 0.
      erased: the outermost ops that have been, in order.

    """

    def __init__(self, graph: Graph) -> None:
        count = len(graph.ops)
        self.is_dead = filled(0, count)
        self.is_erased = filled(0, count)
        self.erased: list[int] = []
        self._graph = graph
        self._use_counts = vec[i64](graph.users.lengths())
        self._scalars = {kind for kind, type_ in graph.type_of_kind.items() if is_scalar(type_)}
        self._is_shared = self._shared_values()
        self._mark_dead()

    def _shared_values(self) -> vec[i64]:
        kinds, counts = self._graph.kinds, self._use_counts
        is_shared = filled(0, len(counts))
        for value in range(i64(len(counts))):
            if counts[value] != 1 and kinds[value] not in self._scalars:
                is_shared[value] = 1
        return is_shared

    def _mark_dead(self) -> None:
        graph, counts = self._graph, self._use_counts
        starts, producers = graph.results.starts, graph.producers
        unused: dict[int, None] = {}
        for op in range(i64(len(starts)) - 1):
            if starts[op] == starts[op + 1]:
                unused[op] = None
        for value in range(i64(len(counts))):
            if counts[value] == 0 and producers[value] >= 0:
                unused[producers[value]] = None
        for op in unused:
            if graph.names[op] not in TERMINATORS and self._is_unused(op):
                self._set_dead(op)

    def _set_dead(self, op: int) -> None:
        """Note that an op is dead, if it may be erased."""
        if self._graph.names[op] in ERASABLE or erasable_when_unused(self._graph.ops[op]):
            self.is_dead[op] = 1

    def _is_unused(self, op: int) -> bool:
        return not any([self._use_counts[value] for value in self._graph.results[op]])

    def ops_with_shared_operand(self) -> vec[i64]:
        """Return for each op 1 where an operand has more uses, see below, and 0 elsewhere."""
        starts, items, is_shared = (
            self._graph.operands.starts,
            self._graph.operands.items,
            self._is_shared,
        )
        ops = filled(0, len(starts) - 1)
        for op in range(i64(len(starts)) - 1):
            for place in range(starts[op], starts[op + 1]):
                if is_shared[items[place]]:
                    ops[op] = 1
        return ops

    def has_shared_operand(self, op: int) -> bool:
        """Return whether an operand that is no scalar has another number of uses than one."""
        return any([self._is_shared[value] for value in self._graph.operands[op]])

    def erase(self, op: int) -> Iterator[tuple[int, int | None]]:
        """Erase an op and what is in it.

        Yields for each operand that they used, in the order in which MLIR lets go of them, the
        operand and its producer; None for a producer that is not to have a turn for it.
        """
        for inner in reversed(self._graph.nested(op)):
            yield from self._erase_one(inner)
        yield from self._erase_one(op)
        self.erased.append(op)

    def _erase_one(self, op: int) -> Iterator[tuple[int, int | None]]:
        graph = self._graph
        self.is_erased[op] = 1
        for value in dict.fromkeys(graph.operands[op]):
            users = [user for user in graph.users[value] if not self.is_erased[user]]
            self._use_counts[value] = len(users)
            is_shared = len(users) != 1 and graph.kinds[value] not in self._scalars
            self._is_shared[value] = int(is_shared)
            producer: int = graph.producers[value]
            if producer < 0 or len(set(users)) > 1:
                yield value, None
                continue
            if self._is_unused(producer) and not self.is_dead[producer]:
                self._set_dead(producer)
            yield value, producer
