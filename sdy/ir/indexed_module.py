"""A module and what passes share about it: its ops by name, its meshes, its attributes read.

A module nested in it is one op, whatever it holds: that has functions and meshes of its own,
under names of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy as mlir_sdy

from sdy.dialect.errors import Error
from sdy.ir.attributes import AttributeCodec, read_mesh
from sdy.ir.diagnostics import op_error
from sdy.ir.op_index import NamedOp, OpIndex, grouped_by_name, ops_below
from sdy.ir.op_names import FUNCTION, MESH, MODULE
from sdy.ir.structure import NOTHING, read_structure
from sdy.ir.structure_changes import Changes
from sdy.ir.structure_edit import read_use_order
from sdy.ir.symbol_references import symbol_references
from sdy.ir.symbols import symbol_name

if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Collection,
        Container,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )

    from sdy.dialect.mesh import Mesh
    from sdy.ir.op_index import Piece
    from sdy.ir.structure import Structure

__all__ = ["MODULE", "IndexedModule", "NamedOp", "OpAttribute"]

_ROOTS = frozenset({FUNCTION, MESH, MODULE})
"""Names of ops that stand in a module itself only."""

OpAttribute: TypeAlias = tuple[int, ir.Operation, ir.Attribute]
"""An attribute of an op, with the number of the op."""


class IndexedModule:
    """An MLIR module with what passes ask of it, made on demand and kept until it is stale.

    That is an index of its ops, its structure in numbers, and its meshes.

    A pass that creates, moves or erases ops calls `replace_ops`, `replace_at` or `rearrange`; or
    `ops_changed`, with their names if it knows them all. One that adds, drops or renames a mesh
    calls `meshes_changed`. No handle to an erased op may be kept.

    Whoever is given ops may change what the structure tells of them, so it is forgotten then,
    but for `read_ops` and `numbered_ops`.
    """

    def __init__(self, module: ir.Module) -> None:
        self.module = module
        self._index: OpIndex | None = None
        self._stale: set[str] = set()
        self._structure: Structure | None = None
        self._edited: Callable[[], tuple[Structure, set[int]]] | None = None
        self._numbered: list[ir.Operation] | None = None
        self._changes = Changes()
        self._references: frozenset[str] | None = None
        self._codec: AttributeCodec | None = None
        self._meshes: dict[str, Mesh] | None = None

    @property
    def context(self) -> ir.Context:
        """The context of the module."""
        return self.module.context

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
        index = self._index
        if index is None or name in self._stale:
            index = self._refreshed()
        return index.named(name)

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
    def op_count(self) -> int:
        """How many ops there are below the module."""
        return len(self._refreshed().ops)

    @property
    def in_order(self) -> list[NamedOp]:
        """The names and ops of all below the module, parents first, in text order."""
        index = self._refreshed()
        self.forget_structure()
        return index.pairs()

    @property
    def structure(self) -> Structure:
        """The ops and values of the module in numbers, as they are now."""
        if self._changes:
            self.forget_structure()
        return self.last_structure

    @property
    def last_structure(self) -> Structure:
        """The structure as it was before `changes`."""
        if self._structure is not None:
            return self._structure
        edited = None if self._changes else self._edited
        self.forget_structure()
        if edited is None:
            self._structure = read_structure(self.operation)
        else:
            self._structure, reordered = edited()
            for value in reordered:
                read_use_order(value, self._structure, self.numbered_ops)
        return self._structure

    @property
    def numbered_ops(self) -> list[ir.Operation]:
        """The ops by their numbers in `last_structure`, for those who note what they change."""
        if self._numbered is None:
            names = self.last_structure.names
            if self._index is None or self._stale:
                self._set_index(OpIndex(names, ops_below(self.module)))
            self._numbered = self._refreshed().ops
        return self._numbered

    @property
    def changes(self) -> Changes:
        """What has changed in the module since `last_structure` was read."""
        return self._changes

    def attributes_of_ops(self, name: str, but_for: Container[str] = ()) -> list[OpAttribute]:
        """Return the attributes of that name of all ops that have one, in the order of the text.

        Args:
          name: of an attribute that is no property of an op.
          but_for: names of ops that are left out.

        """
        if self._structure is None:
            index = self._refreshed()
            return [
                (number, op, attribute)
                for number, op in enumerate(index.ops)
                if (attribute := op.attributes.get(name)) is not None
                and index.names[number] not in but_for
            ]
        names, ops, erased = self._structure.names, self.numbered_ops, self._changes.erased
        changed = self._changes.attributes.get(name, {})
        of_kind: dict[int, ir.Attribute | None] = {NOTHING: None}
        found: list[OpAttribute] = []
        for number, kind in enumerate(self._structure.attributes):
            if number in erased:
                continue
            if number in changed:
                attribute = changed[number]
            elif kind in of_kind:
                attribute = of_kind[kind]
            else:
                attribute = of_kind[kind] = ops[number].attributes.get(name)
            if attribute is not None and names[number] not in but_for:
                found.append((number, ops[number], attribute))
        return found

    def set_attributes(
        self, name: str, changes: Iterable[tuple[int, ir.Operation, ir.Attribute | None]]
    ) -> None:
        """Set the attributes of that name of ops, or drop them, where they are None.

        Args:
          name: of an attribute that is no property of an op.
          changes: with the numbers of the ops as `attributes_of_ops` gives them.

        """
        changed = self._changes.attributes.setdefault(name, {})
        for number, op, attribute in changes:
            changed[number] = attribute
            if attribute is None:
                del op.attributes[name]
            else:
                op.attributes[name] = attribute

    def properties_changed(self, name: str) -> None:
        """Note that ops of that name have got other properties."""
        self._changes.properties.add(name)

    def erase_numbered(self, numbers: Collection[int]) -> None:
        """Erase ops without uses, given by their numbers in `last_structure`."""
        ops = self.numbered_ops
        self._drop_numbered(numbers)
        for number in numbers:
            ops[number].erase()

    def _drop_numbered(self, numbers: Iterable[int]) -> None:
        names, ops, erased = self.last_structure.names, self.numbered_ops, self._changes.erased
        erased.update(numbers)
        kept = [number for number in range(len(ops)) if number not in erased]
        kept_ops = [ops[number] for number in kept]
        self._set_index(OpIndex([names[number] for number in kept], kept_ops))

    def set_structure(self, edited: Callable[[], tuple[Structure, set[int]]]) -> None:
        """Go on with a structure that is made from the last one if it is asked for in time.

        Args:
          edited: returns what reading it anew would tell, but for the order of uses, and the
            values whose uses may not be in the usual order.

        """
        self.forget_structure()
        self._edited = edited

    def forget_structure(self) -> None:
        """Forget the structure, as it has changed in other ways than `changes` can tell."""
        self._structure = None
        self._edited = None
        self._numbered = None
        self._changes = Changes()

    def ops_changed(self, *names: str) -> None:
        """Forget the index of the ops of these names; without names, of all ops."""
        self._stale.update(names)
        if not names:
            self._index = None
            self._references = None
        self.forget_structure()

    @property
    def references(self) -> frozenset[str] | None:
        """The names that more than calls may refer to, where `read_references` could tell.

        Passes that call others than functions call `ops_changed` without names.
        """
        return self._references

    def read_references(self) -> None:
        """Find out `references` where they are not known: cheap just while `structure` is."""
        if self._references is None:
            self._references = symbol_references(self.operation, self.structure, self.numbered_ops)

    def replace_ops(self, replacements: Mapping[ir.Operation, Sequence[ir.Operation]]) -> None:
        """Keep the index up to date where ops give way to others at the same place, or to none.

        Args:
          replacements: for each op, not erased yet, what stands in its place.

        """
        if not replacements:
            return
        self.forget_structure()
        index = self._index
        if index is None:
            return
        names = {op.name for op in replacements}
        if self._stale:
            self.ops_changed(*names, *{new.name for news in replacements.values() for new in news})
            return
        self.replace_at(
            {
                position: [(new.name, new) for new in replacements[op]]
                for position, (name, op) in enumerate(index.pairs())
                if name in names and op in replacements
            }
        )

    def roots(self) -> list[range] | None:
        """Return for each op of the module itself where it and what is in it stand in `in_order`.

        None where there are others than functions and meshes there.
        """
        index = self._refreshed()
        starts = [position for position, name in enumerate(index.names) if name in _ROOTS]
        roots = [op.operation for op in self.module.body.operations]
        if [index.ops[start] for start in starts] != roots or MODULE in index.distinct_names:
            return None
        ends = [*starts[1:], len(index.ops)]
        return [range(start, end) for start, end in zip(starts, ends, strict=True)]

    def rearrange(self, pieces: Iterable[Piece]) -> None:
        """Keep the index up to date where ops have moved, come or gone.

        Args:
          pieces: what stands in the module now, in the order of the text: positions in `in_order`
            as it was, and the names and ops of what is new.

        """
        index = self._index
        # Where it was stale the positions are of another.
        self._index = None if index is None or self._stale else index.rearranged(pieces)
        self.forget_structure()

    def replace_at(
        self,
        replacements: Mapping[int, Sequence[NamedOp]],
        appended: Sequence[NamedOp] = (),
    ) -> None:
        """Keep the index up to date where ops give way to others at the same place, or to none.

        Args:
          replacements: for positions in `in_order`, the names and ops that stand there now.
          appended: the names and ops that follow behind the last.

        """
        if not replacements and not appended:
            return
        if self._structure is not None and not appended and not any(replacements.values()):
            erased = self._changes.erased
            numbers = [i for i in range(len(self.numbered_ops)) if i not in erased]
            self._drop_numbered([numbers[position] for position in replacements])
            return
        pieces: list[Piece] = []
        start = 0
        for position in sorted(replacements):
            pieces.append(range(start, position))
            pieces += replacements[position]
            start = position + 1
        index = self._index
        pieces.append(range(start, 0 if index is None else len(index.ops)))
        self.rearrange([*pieces, *appended])

    def _refreshed(self) -> OpIndex:
        index = self._index
        if index is None or self._stale:
            ops = ops_below(self.module)
            index = OpIndex([op.name for op in ops], ops)
            self._set_index(index)
        return index

    def _set_index(self, index: OpIndex) -> None:
        self._index = index
        self._stale.clear()

    def walk(self, order: ir.WalkOrder) -> list[ir.Operation]:
        """Return the ops below the module: parents first, in text order, or parents last."""
        self.forget_structure()
        return ops_below(self.module, order)

    @property
    def meshes(self) -> dict[str, Mesh]:
        """The meshes of the module by name, in the order of the text."""
        if self._meshes is None:
            self._meshes = dict(_module_meshes(self.module))
        return self._meshes

    def meshes_changed(self) -> None:
        """Forget the meshes, and the attributes that were read with them."""
        self._meshes = None
        self._codec = None

    @property
    def codec(self) -> AttributeCodec:
        """The reader of attributes, bound to the module's meshes."""
        if self._codec is None:
            self._codec = AttributeCodec(self.context, self.meshes)
        return self._codec


def _module_meshes(module: ir.Module) -> Iterator[tuple[str, Mesh]]:
    for op in module.body.operations:
        if isinstance(op, mlir_sdy.MeshOp):
            name = symbol_name(op.operation)
            try:
                mesh = read_mesh(op.mesh, name)
            except Error as error:
                raise op_error(op, str(error)) from None
            yield name, mesh
