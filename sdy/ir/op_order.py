"""In which order the ops of a module stand in its text while that changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from librt.vecs import append, extend, vec
from mypy_extensions import i64

from sdy.ir.rows import filled, packed, packed_range
from sdy.ir.structure import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sdy.ir.structure import Structure

__all__ = ["Nested", "OpOrder"]

Nested: TypeAlias = tuple[list[int], int, list[int]]
"""Ops, the root whose content follows behind them, and ops that follow behind that."""


class OpOrder:
    """The ops of a module, by number, in the order of the text.

    Attributes:
      roots: the ops of the module itself.
      names: of all ops, by number; longer where there are new ones.

    """

    def __init__(self, structure: Structure, names: list[str]) -> None:
        self.names = names
        self.roots = _roots(structure)
        self._contents = {
            root: packed_range(root + 1, structure.ends[root])
            for root in self.roots
            if root in structure.ends
        }
        self._inserted: dict[int, list[int]] = {}
        self._erased: set[int] = set()
        self._distinct_names: set[str] | None = None
        self._found: dict[str, list[tuple[int, int]]] = {}

    def all(self) -> vec[i64]:
        """Return all ops."""
        self._settle()
        order = vec[i64](capacity=len(self.names))
        for root in self.roots:
            order = append(order, root)
            if root in self._contents:
                order = extend(order, self._contents[root])
        return order

    def content(self, root: int) -> vec[i64]:
        """Return the ops in a root."""
        self._settle()
        return self._contents.get(root, packed_range(0, 0))

    def named(self, name: str) -> list[tuple[int, int]]:
        """Return the ops of that name behind the roots that they are in, or are themselves."""
        self._settle()
        found = self._found.get(name)
        if found is not None:
            return found
        found = self._found[name] = []
        if self._distinct_names is None:
            self._distinct_names = set(self.names)
        if name not in self._distinct_names:
            return found
        names = self.names
        for root in self.roots:
            if names[root] == name:
                found.append((root, root))
            if root in self._contents:
                content = self._contents[root]
                found += [(root, number) for number in content if names[number] == name]
        return found

    def name_added(self, name: str) -> None:
        """Note that there is an op of that name now."""
        self._found.clear()
        if self._distinct_names is not None:
            self._distinct_names.add(name)

    def erase(self, number: int) -> None:
        """Take out an op without regions."""
        self._erased.add(number)
        self._found.clear()

    def insert(self, numbers: Iterable[int], before: int) -> None:
        """Put new ops in front of another, behind those that were put there before."""
        self._inserted.setdefault(before, []).extend(numbers)
        self._found.clear()

    def move(self, number: int, before: int) -> None:
        """Put an op without regions in front of another, and of those that were put there."""
        self._erased.add(number)
        self._inserted.setdefault(before, []).insert(0, number)
        self._found.clear()

    def set_roots(self, roots: list[int]) -> None:
        """Let the roots stand in another order; one left out goes with all in it."""
        self.roots = roots
        self._found.clear()

    def append_root(self, root: int, content: vec[i64] | None = None) -> None:
        """Put a new root behind the last."""
        self.roots.append(root)
        self._found.clear()
        if content is not None:
            self._contents[root] = content

    def _settle(self) -> None:
        """Put what is inserted in its place, and take out what is erased."""
        if not self._inserted and not self._erased:
            return
        is_event = filled(0, len(self.names))
        for number in self._inserted:
            is_event[number] = 1
        for number in self._erased:
            is_event[number] = 1
        for root, content in self._contents.items():
            settled = vec[i64](capacity=len(content))
            for place in range(i64(len(content))):
                event = content[place]
                if is_event[event]:
                    settled = extend(settled, self._inserted.get(event, ()))
                    if event in self._erased:
                        continue
                settled = append(settled, event)
            self._contents[root] = settled
        self._inserted.clear()
        self._erased.clear()

    def nest(self, nested: Mapping[int, Nested]) -> None:
        """Put the contents of roots, which go, behind ops of other roots.

        Args:
          nested: for an op what stands behind it.

        """
        self._settle()
        is_host = filled(0, len(self.names))
        moved: set[int] = set()
        for host, (_, root, _) in nested.items():
            is_host[host] = 1
            moved.add(root)
        self.set_roots([root for root in self.roots if root not in moved])
        for root in self.roots:
            if root in self._contents:
                self._contents[root] = self._nested(self._contents[root], nested, is_host)

    def _nested(
        self, content: vec[i64], nested: Mapping[int, Nested], is_host: vec[i64]
    ) -> vec[i64]:
        """Return the content of a root with all that stands in it, however deep."""
        whole = vec[i64](capacity=len(content))
        # With a list in place of recursion, as calls may be deeper than Python's stack.
        path: list[tuple[vec[i64], int]] = [(content, 0)]
        while path:
            numbers, start = path.pop()
            for place in range(i64(start), i64(len(numbers))):
                host = numbers[place]
                whole = append(whole, host)
                if is_host[host]:
                    in_front, root, behind = nested[host]
                    whole = extend(whole, in_front)
                    path.append((numbers, place + 1))
                    path.append((packed(behind), 0))
                    path.append((self._contents[root], 0))
                    break
        return whole

    def take_out(self, targets: Mapping[int, int], parents: vec[i64]) -> None:
        """Put what is in the regions of ops into roots without any.

        Args:
          targets: for each of these ops the root; ops that are no roots.
          parents: for each op the one in whose region it is.

        """
        self._settle()
        inside = filled(NOTHING, len(self.names))
        for root in list(self._contents):
            left = vec[i64](capacity=len(self._contents[root]))
            for number in self._contents[root]:
                parent = parents[number]
                home = inside[parent]
                if parent in targets:
                    home = inside[number] = targets[parent]
                elif home != NOTHING:
                    inside[number] = home
                if home == NOTHING:
                    left = append(left, number)
                else:
                    self._contents[home] = append(self._contents.get(home, vec[i64]()), number)
            self._contents[root] = left
        self._found.clear()


def _roots(structure: Structure) -> list[int]:
    roots: list[int] = []
    number = 0
    while number < len(structure.names):
        roots.append(number)
        number = structure.ends.get(number, number + 1)
    return roots
