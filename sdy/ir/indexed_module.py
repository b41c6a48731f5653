"""A module and what passes share about it: its ops by name, its meshes, its attributes read.

A module nested in it is one op, whatever it holds: that has functions and meshes of its own,
under names of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir.dialects import sdy as mlir_sdy

from sdy.dialect.errors import Error
from sdy.ir.attributes import SHARDING_RULE, AttributeCodec, read_mesh
from sdy.ir.diagnostics import op_error
from sdy.ir.module_ops import ModuleOps
from sdy.ir.op_attributes import OpAttributes
from sdy.ir.op_index import NamedOp, ops_below
from sdy.ir.op_names import FUNCTION, MESH, MODULE
from sdy.ir.structure import NOTHING
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

    from jaxlib.mlir import ir
    from librt.vecs import vec
    from mypy_extensions import i64

    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding_rule import OpShardingRule
    from sdy.ir.op_attributes import LateRule
    from sdy.ir.op_index import Piece

__all__ = ["MODULE", "IndexedModule", "NamedOp"]

_ROOTS = frozenset({FUNCTION, MESH, MODULE})  # They stand in a module itself only.


class IndexedModule(ModuleOps):
    """An MLIR module with what passes ask of it, made on demand and kept until it is stale.

    A pass that creates, moves or erases ops calls `replace_ops`, `replace_at` or `rearrange`; or
    `ops_changed`, with their names if it knows them all. One that adds, drops or renames a mesh
    calls `meshes_changed`. No handle to an erased op may be kept.

    Whoever asks for `late_ops` or `root_ops`, of which MLIR may not know all attributes, asks
    `attribute` for those that passes set late, or calls `write_attributes`.
    """

    def __init__(self, module: ir.Module, *, writes_late: bool = False) -> None:
        """Ask nothing of the module yet.

        Args:
          module: the module.
          writes_late: whether MLIR is told of attributes late; `write_attributes` must come last
            then, before somebody looks at `module`.

        """
        super().__init__(module)
        self._writes_late = writes_late
        self._references: frozenset[str] | None = None
        self._codec: AttributeCodec | None = None
        self._meshes: dict[str, Mesh] | None = None

    @property
    def _op_attributes(self) -> OpAttributes:
        if self._attributes is None:
            structure, ops = self.last_structure, self.late_ops
            self._attributes = OpAttributes(structure, ops, self._changes.erased)
        return self._attributes

    def distinct_attributes(self, name: str, but_for: Collection[str] = ()) -> list[ir.Attribute]:
        """Return the attributes of that name that ops have, each once.

        Args:
          name: of an attribute that is no property of an op.
          but_for: names of ops that are left out.

        """
        return self._op_attributes.distinct(name, but_for)

    def attribute_numbers(self, name: str) -> vec[i64]:
        """Return for each op a number of its attribute of that name, equal for equal ones."""
        return self._op_attributes.numbers(name)

    def attribute(self, number: int, name: str) -> ir.Attribute | None:
        """Return the attribute of that name of an op; None where it has none."""
        return self._op_attributes.get(number, name)

    def set_attributes(self, name: str, changes: Mapping[int, ir.Attribute | None]) -> None:
        """Set the attributes of that name of ops, or drop them, where they are None.

        Args:
          name: of an attribute that is no property of an op.
          changes: by the numbers of the ops in `last_structure`.

        """
        if changes:
            self._op_attributes.set(name, changes)
            self._note_attributes(name)

    def set_numbered_attributes(
        self, name: str, attributes: Sequence[ir.Attribute | LateRule], numbers: vec[i64]
    ) -> None:
        """Set the attributes of that name of ops.

        Args:
          name: of an attribute that is no property of an op.
          attributes: each once.
          numbers: by the numbers of the ops in `last_structure` which of them; NOTHING where
            nothing changes.

        """
        self._op_attributes.set_numbered(name, attributes, numbers)
        self._note_attributes(name)

    def rule(self, number: int) -> OpShardingRule | None:
        """Return the sharding rule that an op has as an attribute; None where it has none."""
        late = self._op_attributes.late_rule(number, SHARDING_RULE)
        if late is not None:
            return late.rule
        attribute = self.attribute(number, SHARDING_RULE)
        return None if attribute is None else self.codec.rule(attribute)

    def drop_late_rules(self) -> None:
        """Drop the sharding rules of ops that nobody has asked for as attributes."""
        self._op_attributes.drop_late_rules(SHARDING_RULE)

    def transform_attributes(
        self,
        name: str,
        change: Callable[[ir.Attribute], ir.Attribute | None],
        but_for: Collection[str] = (),
    ) -> None:
        """Change the attributes of that name, each distinct one once.

        Args:
          name: of an attribute that is no property of an op.
          change: returns what an attribute becomes; None where it is dropped.
          but_for: names of ops that are left out.

        """
        self._op_attributes.transform(name, change, but_for)
        self._note_attributes(name)

    def _note_attributes(self, name: str) -> None:
        self._changes.attributes.add(name)
        if not self._writes_late:
            self.write_attributes()

    def renew_attributes(self, number: int) -> None:
        """Forget what was set of an op that gives way to another one in an edit."""
        if self._attributes is not None:
            self._attributes.renew(number)

    def change_blindly(self, change: Callable[[ir.Module], bool], created: Container[str]) -> bool:
        """Let MLIR change ops whatever attributes they have that it is told of late.

        Args:
          change: changes the module, returns whether it did. It leaves ops in their order.
          created: the names of ops that it may create, move or erase, of which there are none
            now. Of others it erases some at most.

        Returns:
          what `change` does.

        """
        has_changed = change(self._module)
        if has_changed:
            if self._attributes is not None:
                self._attributes.forget(self._missing(created))
            self.ops_changed()
        return has_changed

    def _missing(self, created: Container[str]) -> list[int]:
        """Return the numbers of the ops that are no more, where others were created."""
        missing: list[int] = []
        left = iter([op for op in ops_below(self._module) if op.name not in created])
        following = next(left, None)
        for number, op in enumerate(self.late_ops):
            # The handle to an op that is no more may be compared.
            if number not in self._changes.erased and op == following:
                following = next(left, None)
            else:
                missing.append(number)
        return missing

    def ops_changed(self, *names: str) -> None:
        """Forget the index of the ops of these names; without names, of all ops."""
        self._stale.update(names)
        if not names:
            self._edit = None
            self._index = None
            self._references = None
        self.forget_structure()

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
        roots = self.root_ops()
        if [index.ops[start] for start in starts] != roots or MODULE in index.distinct_names:
            return None
        ends = [*starts[1:], len(index.ops)]
        return [range(start, end) for start, end in zip(starts, ends, strict=True)]

    def attributes_changed(self, name: str, places: Collection[int]) -> None:
        """Note that ops have got other attributes.

        Args:
          name: of the ops.
          places: which ones among all ops of that name, in the order of the text.

        """
        if not places:
            return
        if not self.has_structure:
            self.forget_structure()
            return
        edit = self.edit()
        numbers = edit.numbers(name)
        for place in places:
            edit.attributes_changed(numbers[place])
        self.apply(edit)

    def erase_ops(self, name: str, places: Collection[int]) -> None:
        """Erase ops without regions and without uses.

        Args:
          name: of the ops.
          places: which ones among all ops of that name, in the order of the text.

        """
        if not places:
            return
        ops = self.read_ops(name)
        erased = [ops[place] for place in places]
        if self.has_structure:
            edit = self.edit()
            numbers = edit.numbers(name)
            for place in places:
                edit.erase(numbers[place])
            self.apply(edit)
        else:
            self.replace_ops(dict.fromkeys(erased, ()))
        for op in erased:
            op.erase()

    def keep_roots(self, order: Sequence[int]) -> None:
        """Keep index and structure up to date where the module's own ops are to move or go.

        Args:
          order: for those that stay, as they come then, their places as they are.

        """
        if self.has_structure:
            edit = self.edit(is_late=True)
            edit.set_roots([edit.roots[place] for place in order])
            self.apply(edit)
            return
        if self._structure is not None and list(order) == sorted(order):
            self._drop_roots(set(order))
            return
        places = self.roots()
        if places is None:
            self.ops_changed()
        else:
            self.rearrange([places[place] for place in order])

    def _drop_roots(self, kept: set[int]) -> None:
        structure, erased = self.last_structure, self._changes.erased
        roots = [op for op, around in enumerate(structure.parents) if around == NOTHING]
        left = [op for op in roots if op not in erased]
        dropped = [op for place, op in enumerate(left) if place not in kept]
        self.drop_numbered(
            [number for op in dropped for number in range(op, structure.ends.get(op, op + 1))]
        )

    def rearrange(self, pieces: Iterable[Piece]) -> None:
        """Keep the index up to date where ops have moved, come or gone.

        Args:
          pieces: what stands in the module now, in the order of the text: positions in `in_order`
            as it was, and the names and ops of what is new.

        """
        self._settle()
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
        self._settle()
        if self._structure is not None and not appended and not any(replacements.values()):
            erased = self._changes.erased
            numbers = [i for i in range(len(self.late_ops)) if i not in erased]
            self.drop_numbered([numbers[position] for position in replacements])
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

    @property
    def references(self) -> frozenset[str] | None:
        """The names that more than calls may refer to, where `read_references` could tell.

        Passes that call others than functions call `ops_changed` without names.
        """
        return self._references

    def read_references(self) -> None:
        """Find out `references` where they are not known: cheap just while `structure` is."""
        if self._references is None:
            self._references = symbol_references(self.operation, self.structure, self.late_ops)

    @property
    def meshes(self) -> dict[str, Mesh]:
        """The meshes of the module by name, in the order of the text."""
        if self._meshes is None:
            self._meshes = dict(_module_meshes(self._module))
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
