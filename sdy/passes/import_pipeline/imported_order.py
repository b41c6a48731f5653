"""Where the ops of a module stand after its calls have become named computations."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from sdy.ir.data_flow import DATA_FLOW_EDGE, NAMED_COMPUTATION
from sdy.ir.op_names import CALL, FUNCTION, SDY_RETURN
from sdy.ir.symbols import symbol_name
from sdy.ir.values import operations

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from jaxlib.mlir import ir

    from sdy.ir.indexed_module import IndexedModule
    from sdy.ir.op_index import NamedOp, Piece

__all__ = ["Imported", "Places"]

_Nested: TypeAlias = "list[Piece | _Nested]"


@dataclass(slots=True)
class Imported:
    """A named computation that was a call.

    Attributes:
      op: the named computation.
      callee: the name of the function that was called.
      terminator: the end of the body, if that is the function's own; None for a clone.
      argument_edges: the data-flow edges on the arguments of the body.
      result_edges: those on the results.

    """

    op: ir.Operation
    callee: str
    terminator: ir.Operation | None = None
    argument_edges: Sequence[ir.Operation] = ()
    result_edges: Sequence[ir.Operation] = ()


class Places:
    """Where the functions of a module and the calls in them stand before the import.

    Attributes:
      are_known: whether that can be told.

    """

    def __init__(self, module: IndexedModule) -> None:
        self._calls = module.positions(CALL)
        self._roots = module.roots()
        self._names: list[str | None] = []
        self._functions: dict[str, range] = {}
        self.are_known = self._roots is not None
        ops = module.in_order
        for place in self._roots or ():
            name, op = ops[place.start]
            self._names.append(symbol_name(op) if name == FUNCTION else None)
            if name == FUNCTION:
                self._functions[symbol_name(op)] = place
                last = ops[place.stop - 1][1]
                self.are_known &= len(place) == 1 or last.parent == op

    def pieces(self, imported: Mapping[str, Sequence[Imported]]) -> Iterator[Piece]:
        """Yield what stands in the module after the import.

        Args:
          imported: for each function with a body, callees before callers, what the calls in it
            became, in the order of the text.

        """
        bodies: dict[str, _Nested] = {}
        moved: set[str] = set()
        for name, calls in imported.items():
            bodies[name] = self._body(self._functions[name], calls, bodies)
            moved.update(each.callee for each in calls)
        for place, function in zip(self._roots or (), self._names, strict=True):
            if function is None or function not in bodies:
                yield place
            elif function not in moved:
                yield range(place.start, place.start + 1)
                yield from _flat(bodies[function])
                yield range(place.stop - 1, place.stop)

    def _body(
        self, place: range, calls: Iterable[Imported], bodies: Mapping[str, _Nested]
    ) -> _Nested:
        """Return what stands in a function, but for the terminator."""
        body: _Nested = []
        start = place.start + 1
        first = bisect_left(self._calls, start)
        for position, each in zip(self._calls[first:], calls, strict=False):
            body.append(range(start, position))
            body.append(_in_place_of_call(each, bodies))
            start = position + 1
        body.append(range(start, place.stop - 1))
        return body


def _in_place_of_call(imported: Imported, bodies: Mapping[str, _Nested]) -> _Nested:
    pieces: _Nested = [(NAMED_COMPUTATION, imported.op)]
    if imported.terminator is None:
        pieces += [(op.name, op) for op in operations(imported.op)]
    else:
        pieces += _edges(imported.argument_edges)
        pieces.append(bodies[imported.callee])
        pieces.append((SDY_RETURN, imported.terminator))
    pieces += _edges(imported.result_edges)
    return pieces


def _edges(edges: Iterable[ir.Operation]) -> list[NamedOp]:
    return [(DATA_FLOW_EDGE, edge) for edge in edges]


def _flat(nested: _Nested) -> Iterator[Piece]:
    # With a list in place of recursion, as calls may be deeper than Python's stack.
    path = [iter(nested)]
    while path:
        piece = next(path[-1], None)
        if piece is None:
            path.pop()
        elif isinstance(piece, list):
            path.append(iter(piece))
        else:
            yield piece
