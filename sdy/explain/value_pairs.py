"""Which values of two programs correspond: those in the same order from ops of the same kind."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from sdy.explain.program import Program, Value

__all__ = ["value_pairs"]


def value_pairs(before: Program, after: Program) -> Iterator[tuple[Value, Value]]:
    """Yield the values that correspond, function by function.

    Those are results of ops of the same name, or arguments and results of functions of the same
    name, with the same type, in the same order.
    """
    others = {function.name for function in after.functions}
    for function in before.functions:
        if function.name in others:
            old = [value for value in before.values if value.function == function.name]
            new = [value for value in after.values if value.function == function.name]
            for one, other in _align([_key(before, v) for v in old], [_key(after, v) for v in new]):
                yield old[one], new[other]


def _key(program: Program, value: Value) -> Hashable:
    op = None if value.op is None else program.ops[value.op]
    name = value.name if op is None else op.name
    index = 0 if op is None else (*op.results, *op.arguments).index(value.number)
    return name, index, value.type


def _align(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Yield the places of keys that correspond: those of a long common subsequence."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        yield start, start
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        yield len(old) - 1 - end, len(new) - 1 - end
        end += 1
    middle = old[start : len(old) - end], new[start : len(new) - end]
    for block in SequenceMatcher(None, *middle, autojunk=False).get_matching_blocks():
        for index in range(block.size):
            yield start + block.a + index, start + block.b + index
