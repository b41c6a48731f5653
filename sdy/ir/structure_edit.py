"""Changes to a structure that follow those to the module, which spare reading it again."""

from __future__ import annotations

from itertools import chain, count
from typing import TYPE_CHECKING, TypeVar

from sdy.ir.op_names import CALL, FUNCTION
from sdy.ir.structure import NOTHING, Structure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from jaxlib.mlir import ir

__all__ = ["StructureEdit", "read_use_order"]

_T = TypeVar("_T")

_WITH_OWN_ATTRIBUTES = frozenset({FUNCTION, CALL})


class _Copy:
    """An op without regions that is a copy of another.

    Attributes:
      source: the number of the other.
      operands: the values that it takes.
      results: the values that it gives, which are new.
      has_own_properties: whether they differ from those of `source`.

    """

    def __init__(
        self,
        source: int,
        operands: tuple[int, ...],
        results: tuple[int, ...],
        *,
        has_own_properties: bool,
    ) -> None:
        self.source = source
        self.operands = operands
        self.results = results
        self.has_own_properties = has_own_properties


class _Parts:
    """What becomes of the ops of a structure, in the order of the text.

    Attributes:
      numbers: for each old op its new number; NOTHING for one that is erased, and at the end.
      parts: the new ops: ranges of old ones that stay, and copies.
      starts: for old ops where something changes, the number of the first new op from there on.
      count: how many new ops there are.

    """

    def __init__(self, old_count: int) -> None:
        self.numbers = [NOTHING] * (old_count + 1)
        self.parts: list[range | _Copy] = []
        self.starts: dict[int, int] = {}
        self.count = 0

    def keep(self, old: range) -> None:
        if old:
            self.numbers[old.start : old.stop] = range(self.count, self.count + len(old))
            self.parts.append(old)
            self.count += len(old)

    def insert(self, copies: Sequence[_Copy]) -> None:
        self.parts += copies
        self.count += len(copies)


class StructureEdit:
    """Changes to one structure, which are made all at once.

    Ops and values are known by the numbers that they have in it, and new values by others.
    """

    def __init__(self, structure: Structure) -> None:
        self._old = structure
        self._names = structure.names.copy()
        self._operands: dict[int, tuple[int, ...]] = {}
        self._types = structure.types.copy()
        self._copies: dict[int, list[_Copy]] = {}
        self._erased: set[int] = set()
        self._unused = count(max((0, *structure.attributes, *structure.properties)) + 1)

    def rename(self, op: int, name: str) -> None:
        """Note that an op has given way to one of another name with the same attributes."""
        self._names[op] = name

    def set_operand(self, op: int, position: int, value: int) -> None:
        """Note that an op takes another value."""
        operands = list(self._operands.get(op, self._old.operands[op]))
        operands[position] = value
        self._operands[op] = tuple(operands)

    def copy(
        self, source: int, before: int, operands: Iterable[int], *, has_own_properties: bool = False
    ) -> tuple[int, ...]:
        """Note a copy of an op without regions in front of an op; return its results.

        It stands behind those that were noted before it there.
        """
        types = [self._types[result] for result in self._old.results[source]]
        results = tuple(range(len(self._types), len(self._types) + len(types)))
        self._types += types
        copy = _Copy(source, tuple(operands), results, has_own_properties=has_own_properties)
        self._copies.setdefault(before, []).append(copy)
        return results

    def erase(self, op: int) -> None:
        """Note that an op without regions is no more."""
        self._erased.add(op)

    def apply(self, clones: Sequence[int], reordered: Iterable[int]) -> tuple[Structure, set[int]]:
        """Return the structure with all changes made, but for `use_orders`, which is empty.

        Args:
          clones: for each function that follows behind the last op, the function that it is a
            clone of; it and the calls in it may have other attributes and properties.
          reordered: values whose uses may not be in the usual order; they are returned by the
            numbers that they have then.

        """
        old, parts = self._old, self._parts()
        new = Structure()
        new.names = _spliced(self._names, parts, lambda copy: self._names[copy.source])
        new.attributes = _spliced(old.attributes, parts, lambda copy: old.attributes[copy.source])
        new.properties = _spliced(old.properties, parts, lambda copy: old.properties[copy.source])
        parents = _spliced(old.parents, parts, lambda copy: old.parents[copy.source])
        numbers = parts.numbers
        new.parents = [numbers[parent] for parent in parents]
        new.ends = {
            numbers[op]: parts.starts.get(end, numbers[end]) for op, end in old.ends.items()
        }
        values = self._apply_to_values(new, parts)
        if clones:
            self._append_clones(new, [numbers[function] for function in clones])
        new.find_users()
        return new, {values[value] for value in reordered} - {NOTHING}

    def _apply_to_values(self, new: Structure, parts: _Parts) -> list[int]:
        """Set what the new structure tells of values; return their numbers in it."""
        old, numbers = self._old, parts.numbers
        values, have_moved = self._value_numbers()
        operands, results = old.operands.copy(), old.results
        for op, changed in self._operands.items():
            operands[op] = changed
        for op in range(len(operands)) if have_moved else self._operands:
            operands[op] = _mapped(operands[op], values)
        if have_moved:
            results = [_mapped(each, values) for each in results]
        new.operands = _spliced(operands, parts, lambda copy: _mapped(copy.operands, values))
        new.results = _spliced(results, parts, lambda copy: _mapped(copy.results, values))
        new.bodies = {
            numbers[op]: [
                (values[first] if count else first, count, numbers[last])
                for first, count, last in bodies
            ]
            for op, bodies in old.bodies.items()
        }
        new.arguments = {
            values[value]: (numbers[op], region, block, index)
            for value, (op, region, block, index) in old.arguments.items()
        }
        count = max(values, default=NOTHING) + 1
        new.types = [NOTHING] * count
        for value, kind in zip(values, self._types, strict=True):
            if value != NOTHING:
                new.types[value] = kind
        new.producers = [NOTHING] * count
        for op, each in enumerate(new.results):
            for result in each:
                new.producers[result] = op
        self._number_properties(new, parts)
        return values

    def _value_numbers(self) -> tuple[list[int], bool]:
        """Return for each value the number that it gets; NOTHING for those of erased ops.

        New values take the numbers of those, so that most often no old value gets a new number.
        Whether some do comes second.
        """
        copies = chain.from_iterable(self._copies.values())
        new = [copy.results[0] for copy in copies if len(copy.results) == 1]
        gaps = sorted(result for op in self._erased for result in self._old.results[op])
        filled = dict(zip(new, gaps, strict=False))
        left_out = {*filled, *gaps[len(filled) :]}
        start = min(left_out, default=len(self._old.types))
        values = list(range(start))
        next_number = start
        for value in range(start, len(self._types)):
            if value in left_out:
                values.append(NOTHING)
            else:
                values.append(next_number)
                next_number += 1
        for value, gap in filled.items():
            values[value], values[gap] = values[gap], NOTHING
        return values, len(gaps) > len(filled)

    def _parts(self) -> _Parts:
        """Return what becomes of the ops."""
        end = len(self._names)
        parts = _Parts(end)
        start = 0
        for op in sorted(self._copies.keys() | self._erased):
            parts.keep(range(start, op))
            parts.starts[op] = parts.count
            parts.insert(self._copies.get(op, ()))
            start = op + 1 if op in self._erased else op
        parts.keep(range(start, end))
        parts.starts[end] = parts.count
        return parts

    def _number_properties(self, new: Structure, parts: _Parts) -> None:
        """Give numbers to the properties that only copies have."""
        number = 0
        for part in parts.parts:
            if isinstance(part, range):
                number += len(part)
                continue
            if part.has_own_properties:
                new.properties[number] = next(self._unused)
            number += 1

    def _append_clones(self, new: Structure, functions: Iterable[int]) -> None:
        arguments: dict[int, list[int]] = {}
        for value, place in new.arguments.items():
            arguments.setdefault(place[0], []).append(value)
        for function in functions:
            self._append_clone(new, function, arguments)

    def _append_clone(
        self, new: Structure, function: int, arguments: Mapping[int, Sequence[int]]
    ) -> None:
        shift = len(new.names) - function
        ops = range(function, new.ends[function])
        values: dict[int, int] = {}
        for op in ops:
            for value in (*new.results[op], *arguments.get(op, ())):
                values[value] = len(new.types)
                new.types.append(new.types[value])
                new.producers.append(NOTHING)
        for op in ops:
            name, number = new.names[op], op + shift
            results = tuple([values[result] for result in new.results[op]])
            has_own = name in _WITH_OWN_ATTRIBUTES
            new.names.append(name)
            new.parents.append(NOTHING if op == function else new.parents[op] + shift)
            new.attributes.append(next(self._unused) if has_own else new.attributes[op])
            new.properties.append(next(self._unused) if has_own else new.properties[op])
            new.operands.append(tuple([values[operand] for operand in new.operands[op]]))
            new.results.append(results)
            for result in results:
                new.producers[result] = number
            for value in arguments.get(op, ()):
                _, region, block, index = new.arguments[value]
                new.arguments[values[value]] = number, region, block, index
            if op in new.ends:
                new.ends[number] = new.ends[op] + shift
                new.bodies[number] = [
                    (values.get(first, first), count, last + shift)
                    for first, count, last in new.bodies.get(op, ())
                ]


def _mapped(numbers: Iterable[int], values: Sequence[int]) -> tuple[int, ...]:
    return tuple([values[number] for number in numbers])


def _spliced(old: Sequence[_T], parts: _Parts, of_copy: Callable[[_Copy], _T]) -> list[_T]:
    """Return what the new ops have, where `old` is what the old ops have."""
    new: list[_T] = []
    for part in parts.parts:
        if isinstance(part, range):
            new += old[part.start : part.stop]
        else:
            new.append(of_copy(part))
    return new


def read_use_order(value: int, structure: Structure, ops: Sequence[ir.Operation]) -> None:
    """Set the order of the uses of a value to that in the module.

    Args:
      value: the number of the value.
      structure: tells truly who uses it.
      ops: by number.

    """
    users = structure.users[value]
    structure.use_orders.pop(value, None)
    if len(users) < 2:
        return
    number_of = {ops[user]: user for user in users}
    position = structure.operands[users[0]].index(value)
    handle = ops[users[0]].operands[position]
    uses = [(number_of[use.owner.operation], use.operand_number) for use in handle.uses]
    usual = sorted(uses, reverse=True)
    if uses != usual:
        places = {use: place for place, use in enumerate(uses)}
        structure.use_orders[value] = {
            index: places[use] for index, use in enumerate(usual) if places[use] != index
        }
