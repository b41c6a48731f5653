"""Changes to a structure that follow those to the module, which spare reading it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.ir.edited_structure import EditedStructure
from sdy.ir.growing_structure import GrowingStructure
from sdy.ir.op_order import OpOrder
from sdy.ir.rows import packed_range
from sdy.ir.structure import NOTHING
from sdy.ir.use_lists import UseLists

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from jaxlib.mlir import ir
    from librt.vecs import vec
    from mypy_extensions import i64

    from sdy.ir.data_flow_edges import OwnedEdge
    from sdy.ir.op_order import Nested
    from sdy.ir.structure import Structure

__all__ = ["StructureEdit"]


class StructureEdit:
    """Changes to one structure, and to the handles of the ops in it, made all at once.

    Ops and values are known by the numbers that they have in it; new ones get numbers behind
    those. The order of the uses of each value follows that in MLIR if the changes are noted in
    the order in which they are made there.

    Attributes:
      names: of the ops, by number, those that are erased included.
      ops: their handles.
      uses: of the values.
      is_complete: whether no more changes may be noted.
      reordered: values of whose uses the order is not followed here, so that the new structure
        may not tell it.

    """

    def __init__(self, structure: Structure, ops: Sequence[ir.Operation]) -> None:
        """Start with nothing changed.

        Args:
          structure: of the module as it is; stays as it is.
          ops: by number.

        """
        self._all = GrowingStructure(structure, ops)
        self._order = OpOrder(structure, self._all.names)
        self._moved: dict[int, int] = {}
        self._bypassed: dict[int, int] = {}
        self.names = self._all.names
        self.ops = self._all.ops
        self.uses = UseLists(structure, self._all.operands)
        self.is_complete = False
        self.reordered: set[int] = set()

    # What there is now.

    @property
    def roots(self) -> list[int]:
        """The ops of the module itself, in the order of the text."""
        return self._order.roots

    def operands(self, number: int) -> tuple[int, ...]:
        """Return the values that an op takes now."""
        return self._all.operands[number]

    def results(self, number: int) -> tuple[int, ...]:
        """Return the values that an op gives."""
        return self._all.results[number]

    def parent(self, number: int) -> int:
        """Return the op in whose region an op is; NOTHING for a root."""
        return self._all.parents[number]

    def arguments(self, number: int) -> list[int]:
        """Return the arguments of all blocks of an op."""
        return self._all.arguments_of(number)

    def content(self, root: int) -> vec[i64]:
        """Return the ops in a root, in the order of the text."""
        return self._order.content(root)

    def numbers(self, name: str) -> list[int]:
        """Return the ops of that name, in the order of the text."""
        return [number for _, number in self._order.named(name)]

    def in_roots(self, name: str) -> list[tuple[int, int]]:
        """Return the ops of that name behind the roots that they are in, or are themselves."""
        return self._order.named(name)

    # Changes to one op.

    def replace(self, number: int, name: str, op: ir.Operation) -> None:
        """Note that an op has given way to another with the same operands and attributes."""
        self.names[number] = name
        self.ops[number] = op
        self._order.name_added(name)

    def attributes_dropped(self, number: int) -> None:
        """Note that an op has no attributes any more."""
        self._all.attributes[number] = NOTHING
        self._all.properties[number] = NOTHING

    def attributes_changed(self, number: int) -> None:
        """Note that an op has other attributes, those that are properties included."""
        self._all.renew_attributes(number)

    def set_operand(self, number: int, position: int, value: int) -> None:
        """Note that an op takes another value, or the same one anew."""
        operands = self._all.operands
        place: i64 = operands.starts[number] + position
        self.uses.drop(operands.items[place], number, position)
        self.uses.add(value, number, position)
        operands.items[place] = value

    def renew_operands(self, number: int) -> None:
        """Note that an op has given way to one that was made while it was there."""
        for position, operand in enumerate(self.operands(number)):
            self.uses.drop(operand, number, position)
            self.uses.add(operand, number, position)

    def move_uses(self, value: int, target: int, *, but_for: int = NOTHING) -> None:
        """Note that all uses of a value have become uses of another, but for those by one op."""
        operands = self._all.operands
        kept: list[tuple[int, int]] = []
        for number, position in self.uses.move_all(value, target):
            if number == but_for:
                kept.append((number, position))
            else:
                operands.items[operands.starts[number] + position] = target
        for number, position in reversed(kept):
            self.uses.drop(target, number, position)
            self.uses.add(value, number, position)

    def erase(self, number: int) -> None:
        """Note that an op without regions is no more."""
        self._order.erase(number)
        for position, operand in enumerate(self.operands(number)):
            self.uses.drop(operand, number, position)

    def bypass(self, number: int) -> None:
        """Note that an op with one operand is no more, and that its users use that."""
        operand, result = self.operands(number)[0], self.results(number)[0]
        self._order.erase(number)
        self._bypassed[result] = operand
        self.reordered.add(operand)

    # New ops.

    def copy(
        self,
        source: int,
        before: int,
        operands: Iterable[int],
        op: ir.Operation,
        *,
        has_own_properties: bool = False,
    ) -> int:
        """Note a copy of an op without regions in front of an op; return its first result.

        It stands behind those that were noted before it there.
        """
        known = self._all
        kinds = [known.types[result] for result in known.results[source]]
        number = self._add(self.names[source], op, known.parents[source], operands, kinds)
        known.attributes[number] = known.attributes[source]
        known.properties[number] = known.properties[source]
        if has_own_properties:
            known.renew_attributes(number, properties_only=True)
        self._order.insert((number,), before)
        return len(known.types) - len(kinds)

    def create_edge(self, name: str, edge: ir.Operation, owner: int, parent: int) -> int:
        """Note a data-flow edge of which all other users of its owner have become users.

        Args:
          name: of the edge.
          edge: the edge.
          owner: the value that it is on.
          parent: the op in whose region it is.

        Returns:
          its number, by which `insert` or `nest` tells where it stands.

        """
        known = self._all
        number = known.add(name, edge, parent, (owner,), (known.types[owner],))
        known.renew_attributes(number)
        self._order.name_added(name)
        operands, result = known.operands, len(known.types) - 1
        for user, position in self.uses.put_between(owner, result, number):
            operands.items[operands.starts[user] + position] = result
        return number

    def insert_edges(
        self,
        name: str,
        edges: Iterable[OwnedEdge],
        owners: Sequence[int],
        parent: int,
        before: int,
    ) -> None:
        """Note edges of that name on values, in the region of an op, in front of another op."""
        created = [self.create_edge(name, edge, owners[place], parent) for place, edge in edges]
        self.insert(created, before)

    def create_root(self, name: str, op: ir.Operation) -> int:
        """Note a new op of the module itself behind the last one; return its number."""
        number = self._add(name, op, NOTHING, (), ())
        self._all.renew_attributes(number)
        self._order.append_root(number)
        return number

    def _add(
        self,
        name: str,
        op: ir.Operation,
        parent: int,
        operands: Iterable[int],
        kinds: Iterable[int],
    ) -> int:
        number = self._all.add(name, op, parent, operands, kinds)
        for position, operand in enumerate(self.operands(number)):
            self.uses.add(operand, number, position)
        self._order.name_added(name)
        return number

    def clone(self, function: int, ops: Sequence[ir.Operation]) -> int:
        """Note a clone of a function behind the last root; return its number.

        It and the calls in it may have other attributes and properties.

        Args:
          function: the number of the function.
          ops: the clone and the ops in it.

        """
        known = self._all
        first_value = len(known.types)
        number = known.clone(function, self.content(function), ops)
        end = len(self.names)
        self.uses.cloned(range(first_value, len(known.types)), range(number, end))
        self._order.append_root(number, packed_range(number + 1, end))
        return number

    # Where ops stand.

    def insert(self, numbers: Iterable[int], before: int) -> None:
        """Note that new ops stand in front of another, behind those noted before them there."""
        self._order.insert(numbers, before)

    def move(self, number: int, before: int) -> None:
        """Note that an op without regions stands in front of another now, first of those there."""
        for operand in self.operands(number):
            self.uses.touch(operand)
        self._order.move(number, before)

    def set_roots(self, roots: list[int]) -> None:
        """Note in which order the roots stand now; one left out is erased with all in it."""
        self._order.set_roots(roots)

    def move_body(self, source: int, target: int) -> None:
        """Note that the region of a root, which is about to go, has become that of another op.

        `nest` tells that the root goes, and what stands around its content then.
        """
        self._moved[source] = target
        self._all.with_regions[target] = None

    def nest(self, nested: Mapping[int, Nested]) -> None:
        """Note that the contents of roots, which are no more, stand behind ops of other roots.

        Args:
          nested: for an op what stands behind it.

        """
        self._order.nest(nested)

    def move_bodies(self, targets: Mapping[int, int]) -> None:
        """Note that the regions of ops that are no roots have become those of roots without any.

        No other change may be noted afterwards.

        Args:
          targets: for each op the root that has its region now.

        """
        self.is_complete = True
        self._order.take_out(targets, self._all.parents)
        self._moved.update(targets)
        for source, target in targets.items():
            del self._all.with_regions[source]
            self._all.with_regions[target] = None

    def apply(self) -> tuple[Structure, list[ir.Operation], vec[i64], set[int]]:
        """Return the structure with all changes made.

        The ops come next by the numbers that they have then; and these numbers, by those that
        they had before, NOTHING for an op that is no more. Last come the values that are
        `reordered`, by their numbers then.
        """
        order = self._order.all()
        edited = EditedStructure(self._all, order, self._moved, self._bypassed)
        values = edited.values
        structure = edited.structure(self.uses.orders(values, edited.numbers))
        reordered = {int(values[value]) for value in self.reordered} - {NOTHING}
        return structure, [self.ops[number] for number in order], edited.numbers, reordered
