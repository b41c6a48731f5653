"""Which values of a program are parts of tensors already: those in manual computations."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, TypeAlias

from sdy.ir.op_names import CALL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sdy.explain.program import Function, Op

__all__ = ["local_values"]

_Axes: TypeAlias = frozenset[str]
_NONE: _Axes = frozenset()


def local_values(
    functions: Sequence[Function], ops: Sequence[Op], declared: Mapping[int, _Axes]
) -> dict[int, tuple[str, ...]]:
    """Return for each value that is local along axes which these are, in their alphabetic order.

    A value is local along the axes of all manual computations that it is in. In a function it is
    also local along those that all calls of the function are in.

    Args:
      functions: of the program.
      ops: of the program, by number; parents come first.
      declared: for each manual computation, by the number of its op, its manual axes.

    """
    if not declared:
        return {}
    bodies = _Bodies(ops, declared)
    return {
        value: tuple(sorted(axes))
        for function in functions
        for value, axes in bodies.values(function)
        if axes
    }


class _Bodies:
    def __init__(self, ops: Sequence[Op], declared: Mapping[int, _Axes]) -> None:
        self._ops = ops
        self._declared = declared
        self._around: list[_Axes] = []
        self._calls: dict[str, list[Op]] = {}
        self._functions: dict[str, _Axes] = {}
        for op in ops:
            outer = _NONE if op.parent is None else self._inside(op.parent)
            self._around.append(outer)
            if op.name == CALL:
                self._calls.setdefault(op.target, []).append(op)

    def _inside(self, op: int) -> _Axes:
        """Return the manual axes in the regions of an op, but for those around its function."""
        return self._around[op] | self._declared.get(op, _NONE)

    def _of_function(self, name: str) -> _Axes:
        """Return the axes that all calls of a function are in manual computations along."""
        known = self._functions.get(name)
        if known is None:
            self._functions[name] = _NONE  # For functions that call each other.
            calls = self._calls.get(name, [])
            around = [self._of_function(c.function) | self._around[c.number] for c in calls]
            known = self._functions[name] = reduce(frozenset.intersection, around or [_NONE])
        return known

    def values(self, function: Function) -> Iterator[tuple[int, _Axes]]:
        """Yield the values of a function with the axes along which they are local."""
        outer = self._of_function(function.name)
        for value in (*function.arguments, *function.results):
            yield value, outer
        for number in function.ops:
            for value in self._ops[number].results:
                yield value, outer | self._around[number]
            for value in self._ops[number].arguments:
                yield value, outer | self._inside(number)
