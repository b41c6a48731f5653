"""The ops of a module: by name, in the order of the text, and numbered with their structure.

A module nested in it is one op, whatever it holds.
"""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING

from sdy.ir.attribute_numbers import renumber
from sdy.ir.op_index import NamedOp, OpIndex, grouped_by_name, ops_below
from sdy.ir.structure import read_structure
from sdy.ir.structure_changes import Changes
from sdy.ir.structure_edit import StructureEdit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from jaxlib.mlir import ir

    from sdy.ir.op_attributes import OpAttributes
    from sdy.ir.structure import Structure

__all__ = ["ModuleOps"]


class ModuleOps:
    """The ops of a module, found when they are asked for and kept until they are stale.

    Whoever is given ops may change what the structure tells of them, so it is forgotten then,
    but for `read_ops`, `numbered_ops`, `late_ops` and `root_ops`.

    MLIR may be told late of attributes that passes set: when somebody asks for the module or for
    ops. Those who ask for `late_ops` or `root_ops` are told of ops of which MLIR does not know all
    yet.
    """

    def __init__(self, module: ir.Module) -> None:
        self._module = module
        self._attributes: OpAttributes | None = None
        self._index: OpIndex | None = None
        self._stale: set[str] = set()
        self._structure: Structure | None = None
        self._edit: StructureEdit | None = None
        self._numbered: list[ir.Operation] | None = None
        self._by_name: dict[str, list[int]] = {}
        self._numbers: dict[str, list[int]] = {}
        self._changes = Changes()

    @property
    def module(self) -> ir.Module:
        """The module."""
        self.write_attributes()
        return self._module

    @property
    def context(self) -> ir.Context:
        """The context of the module."""
        return self._module.context

    @property
    def operation(self) -> ir.Operation:
        """The module op."""
        return self.module.operation

    def ops(self, name: str) -> list[ir.Operation]:
        """Return the ops of that name, parents first, in the order of the text."""
        ops = self.read_ops(name)
        if ops:
            self.forget_structure()
        return ops

    def read_ops(self, name: str) -> list[ir.Operation]:
        """Return what `ops` does, for those who change nothing that the structure tells."""
        found = self._named(name)
        if found:
            self.write_attributes()
        return found

    def _named(self, name: str) -> list[ir.Operation]:
        if self._edit is not None:
            return [self._edit.ops[number] for number in self._edit.numbers(name)]
        index = self._index
        if index is None or name in self._stale:
            index = self._refreshed()
        return index.named(name)

    def numbers(self, name: str) -> list[int]:
        """Return the numbers in `last_structure` of the ops of that name, in text order."""
        names, erased = self.last_structure.names, self._changes.erased
        if not self._by_name:
            self._by_name = grouped_by_name(names, range(len(names)))
        known = self._numbers.get(name)
        if known is None:
            numbers = self._by_name.get(name, [])
            known = self._numbers[name] = [number for number in numbers if number not in erased]
        return known

    def positions(self, name: str) -> list[int]:
        """Return the positions in `in_order` of the ops of that name."""
        return self._refreshed().positions(name)

    @property
    def ops_by_name(self) -> dict[str, list[ir.Operation]]:
        """All ops below the module, by name."""
        index = self._refreshed()
        self.forget_structure()
        return grouped_by_name(index.names, index.ops)

    @property
    def names(self) -> Collection[str]:
        """The names of the ops below the module, each once."""
        return self._refreshed().distinct_names

    @property
    def in_order(self) -> list[NamedOp]:
        """The names and ops of all below the module, parents first, in text order."""
        index = self._refreshed()
        self.forget_structure()
        return index.pairs()

    def walk(self, order: ir.WalkOrder) -> list[ir.Operation]:
        """Return the ops below the module: parents first, in text order, or parents last."""
        self.forget_structure()
        return ops_below(self._module, order)

    def root_ops(self) -> list[ir.Operation]:
        """Return the ops of the module itself, for those who look at none of their attributes.

        They may look at the attributes of functions and meshes, as no pass sets those late.
        """
        return [op.operation for op in self._module.body.operations]

    @property
    def structure(self) -> Structure:
        """The ops and values of the module in numbers, as they are now."""
        self._settle()
        if self._changes and not self._follow_changes():
            self.forget_structure()
        return self.last_structure

    def _follow_changes(self) -> bool:
        """Let the structure tell what has changed; return whether it can."""
        changes, structure, attributes = self._changes, self._structure, self._attributes
        if structure is None or changes.replaced or changes.reordered:
            return False
        if changes.attributes and attributes is None:
            return False
        ops = self.late_ops
        self.write_attributes()
        changed = [] if attributes is None else map(attributes.numbers, changes.attributes)
        renumber(structure, changed, changes.properties)
        self._attributes = None
        self._changes = Changes()
        if changes.erased:
            edit = StructureEdit(structure, ops)
            for number in changes.erased:
                edit.erase(number)
            self.apply(edit)
        return True

    @property
    def last_structure(self) -> Structure:
        """The structure as it was before `changes`."""
        self._settle()
        if self._structure is not None:
            return self._structure
        self.forget_structure()
        self._structure = read_structure(self.operation)
        return self._structure

    @property
    def numbered_ops(self) -> list[ir.Operation]:
        """The ops by their numbers in `last_structure`, for those who note what they change."""
        self.write_attributes()
        return self.late_ops

    @property
    def late_ops(self) -> list[ir.Operation]:
        """The same, for those who know that MLIR may be told late of attributes."""
        self._settle()
        if self._numbered is None:
            names = self.last_structure.names
            if self._index is None or self._stale:
                self._set_index(OpIndex(names, ops_below(self._module)))
            self._numbered = self._refreshed().ops
        return self._numbered

    @property
    def changes(self) -> Changes:
        """What has changed in the module since `last_structure` was read."""
        self._settle()
        return self._changes

    def write_attributes(self, numbers: Iterable[int] | None = None) -> None:
        """Tell MLIR of all attributes that were set, or of those of the ops of these numbers."""
        if self._attributes is None:
            return
        if numbers is None:
            self._attributes.write()
        else:
            self._attributes.write_some(numbers)

    def write_named_attributes(self, name: str) -> None:
        """Tell MLIR of all attributes of that name that were set."""
        if self._attributes is not None:
            self._attributes.write_named(name)

    @property
    def is_indexed(self) -> bool:
        """Whether the handles of the ops are known."""
        return self._index is not None and not self._stale

    @property
    def is_numbered(self) -> bool:
        """Whether `last_structure` need not be read first."""
        return self._structure is not None

    @property
    def open_edit(self) -> StructureEdit | None:
        """The changes of passes before, where nobody has asked for more than it tells since."""
        return self._edit

    @property
    def has_structure(self) -> bool:
        """Whether `edit` is cheap, as the structure need not be read."""
        changes = self._changes
        is_lost = changes.replaced or (changes.properties and changes.reordered)
        is_known = self._structure is not None and not is_lost
        return self._edit is not None or is_known

    def edit(self, *, is_late: bool = False) -> StructureEdit:
        """Return what to note changes to the ops in; `apply` comes after the last one.

        That of the pass before if nobody has asked for ops or the structure since. If it was, ops
        have the numbers of `last_structure`.

        Args:
          is_late: whether MLIR may still be told late of attributes of the ops.

        """
        if not is_late:
            self.write_attributes()
        if self._edit is not None:
            return self._edit
        changes = self._changes
        if changes.replaced or changes.properties:
            return StructureEdit(self.structure, self.late_ops)
        edit = StructureEdit(self.last_structure, self.late_ops)
        edit.reordered.update(changes.reordered)
        for number in changes.erased:
            edit.erase(number)
        return edit

    def apply(self, edit: StructureEdit) -> None:
        """Go on with the ops and the structure that an edit tells."""
        self._edit = edit
        if self._attributes is not None or self._changes or edit.is_complete:
            self._settle()

    def _settle(self) -> None:
        """Make the changes that were noted."""
        if self._edit is None:
            return
        structure, ops, numbers, reordered = self._edit.apply()
        self._edit = None
        old, changed = self._attributes, self._changes.attributes
        self._attributes = None
        self.forget_structure()
        self._structure = structure
        self._changes.attributes, self._changes.reordered = changed, reordered
        if old is not None:
            self._attributes = old.moved(structure, ops, self._changes.erased, numbers)
        self._set_index(OpIndex(structure.names, ops))

    def properties_changed(self, name: str) -> None:
        """Note that ops of that name have got other properties."""
        self._settle()
        self._changes.properties.add(name)

    def erase_numbered(self, numbers: Collection[int]) -> None:
        """Erase ops without uses, given by their numbers in `last_structure`."""
        ops = self.late_ops
        self.drop_numbered(numbers)
        for number in numbers:
            ops[number].erase()

    def drop_numbered(self, numbers: Collection[int]) -> None:
        """Note that ops are no more, or are about to be erased.

        Args:
          numbers: of the ops in `last_structure`; with them the ops in their regions.

        """
        if numbers and self.late_ops:
            self._changes.erased.update(numbers)
            if self._attributes is not None:
                self._attributes.forget(numbers)
            self._index = None
            self._numbers.clear()

    def replace_numbered(self, replacements: Mapping[int, NamedOp]) -> None:
        """Note that ops have given way to others with the same operands and attributes.

        Args:
          replacements: the names and ops, by the number in `last_structure`.

        """
        if not replacements:
            return
        names, ops = self.last_structure.names, self.late_ops
        for number, (name, op) in replacements.items():
            names[number], ops[number] = name, op
            self._changes.properties.add(name)
        self._index = None
        self._by_name = {}
        self._numbers.clear()

    def forget_structure(self) -> None:
        """Forget the structure, as it has changed in other ways than `changes` can tell."""
        self._settle()
        self.write_attributes()
        self._attributes = None
        self._structure = None
        self._numbered = None
        self._by_name = {}
        self._numbers.clear()
        self._changes = Changes()

    def _refreshed(self) -> OpIndex:
        self._settle()
        index = self._index
        if index is None or self._stale:
            if self._structure is None or self._numbered is None:
                ops = ops_below(self._module)
                index = OpIndex([op.name for op in ops], ops)
            else:
                index = self._index_of_structure(self._structure, self._numbered)
            self._set_index(index)
        return index

    def _index_of_structure(self, structure: Structure, ops: list[ir.Operation]) -> OpIndex:
        names, erased = structure.names, self._changes.erased
        if not erased:
            return OpIndex(names, ops)
        is_left = bytearray(b"\1") * len(ops)
        for number in erased:
            is_left[number] = 0
        return OpIndex(list(compress(names, is_left)), list(compress(ops, is_left)))

    def _set_index(self, index: OpIndex) -> None:
        self._index = index
        self._stale.clear()
