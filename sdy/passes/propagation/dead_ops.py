"""Which ops are dead, and what becomes dead with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.ir.op_traits import ERASABLE, TERMINATORS, erasable_when_unused
from sdy.ir.types import is_scalar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sdy.passes.propagation.graph import Graph

__all__ = ["DeadOps"]


class DeadOps:
    """The ops that MLIR's greedy driver erases when their turn comes: trivially dead ones.

    Attributes:
      is_dead: for each op whether it is to be erased.
      is_erased: for each op whether it has been.
      erased: the outermost ops that have been, in order.

    """

    def __init__(self, graph: Graph) -> None:
        self.is_dead = [False] * len(graph.ops)
        self.is_erased = [False] * len(graph.ops)
        self.erased: list[int] = []
        self._graph = graph
        self._use_counts = list(map(len, graph.users))
        self._scalars = {kind for kind, type_ in graph.type_of_kind.items() if is_scalar(type_)}
        self._is_shared = [
            count != 1 and kind not in self._scalars
            for count, kind in zip(self._use_counts, graph.kinds, strict=True)
        ]
        self._mark_dead()

    def _mark_dead(self) -> None:
        graph = self._graph
        unused = [op for op, results in enumerate(graph.results) if not results]
        unused += dict.fromkeys(
            graph.producers[value] for value, count in enumerate(self._use_counts) if not count
        )
        for op in unused:
            if op >= 0 and graph.names[op] not in TERMINATORS:
                self.is_dead[op] = self._is_unused(op) and self._is_erasable(op)

    def _is_unused(self, op: int) -> bool:
        return not any([self._use_counts[value] for value in self._graph.results[op]])

    def _is_erasable(self, op: int) -> bool:
        return self._graph.names[op] in ERASABLE or erasable_when_unused(self._graph.ops[op])

    def waiting(self) -> list[int]:
        """Return the dead ops that have not been erased."""
        if not any(self.is_dead):
            return []
        return [op for op, dead in enumerate(self.is_dead) if dead and not self.is_erased[op]]

    def ops_with_shared_operand(self) -> list[bool]:
        """Return for each op whether an operand has more uses; see below."""
        ops = [False] * len(self._graph.ops)
        for users, is_shared in zip(self._graph.users, self._is_shared, strict=True):
            if is_shared:
                for op in users:
                    ops[op] = True
        return ops

    def has_shared_operand(self, op: int) -> bool:
        """Return whether an operand that is no scalar has another number of uses than one."""
        is_shared = self._is_shared
        for value in self._graph.operands[op]:
            if is_shared[value]:
                return True
        return False

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
        self.is_erased[op] = True
        for value in dict.fromkeys(graph.operands[op]):
            users = [user for user in graph.users[value] if not self.is_erased[user]]
            self._use_counts[value] = len(users)
            self._is_shared[value] = len(users) != 1 and graph.kinds[value] not in self._scalars
            producer: int | None = graph.producers[value]
            if producer is not None and producer >= 0 and len(set(users)) <= 1:
                if self._is_unused(producer):
                    self.is_dead[producer] = self._is_erasable(producer)
            else:
                producer = None
            yield value, producer
