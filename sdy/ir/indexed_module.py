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
from sdy.ir.op_names import MODULE
from sdy.ir.symbols import symbol_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sdy.dialect.mesh import Mesh

__all__ = ["MODULE", "IndexedModule", "NamedOp"]


NamedOp: TypeAlias = tuple[str, ir.Operation]


class IndexedModule:
    """An MLIR module with an index of its ops that is made on demand and kept until it is stale.

    A pass that creates, moves or erases ops calls `replace_ops`, or `ops_changed`, with their
    names if it knows them all; one that adds, drops or renames a mesh calls `meshes_changed`. No
    handle to an erased op may be kept.
    """

    def __init__(self, module: ir.Module) -> None:
        self.module = module
        self._is_indexed = False
        self._ops_by_name: dict[str, list[ir.Operation]] = {}
        self._in_order: list[NamedOp] = []
        self._stale: set[str] = set()
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
        if not self._is_indexed or name in self._stale:
            self._refresh()
        return self._ops_by_name.get(name, [])

    @property
    def ops_by_name(self) -> dict[str, list[ir.Operation]]:
        """All ops below the module, by name."""
        self._refresh()
        return self._ops_by_name

    @property
    def in_order(self) -> list[NamedOp]:
        """The names and ops of all below the module, parents first, in text order."""
        self._refresh()
        return self._in_order

    def ops_changed(self, *names: str) -> None:
        """Forget the index of the ops of these names; without names, of all ops."""
        self._stale.update(names)
        self._is_indexed &= bool(names)

    def replace_ops(self, replacements: Mapping[ir.Operation, Sequence[ir.Operation]]) -> None:
        """Keep the index up to date where ops give way to others at the same place, or to none.

        Args:
          replacements: for each op, not erased yet, what stands in its place.

        """
        if not self._is_indexed or not replacements:
            return
        names = {op.name for op in replacements}
        if self._stale:
            self.ops_changed(*names, *{new.name for news in replacements.values() for new in news})
            return
        self.replace_at(
            {
                position: [(new.name, new) for new in replacements[op]]
                for position, (name, op) in enumerate(self._in_order)
                if name in names and op in replacements
            }
        )

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
        old = self._in_order
        news = [entry for entries in (*replacements.values(), appended) for entry in entries]
        changed = {old[position][0] for position in replacements} | {name for name, _ in news}
        in_order: list[NamedOp] = []
        start = 0
        for position in sorted(replacements):
            in_order += old[start:position]
            in_order += replacements[position]
            start = position + 1
        self._in_order = [*in_order, *old[start:], *appended]
        by_name: dict[str, list[ir.Operation]] = {name: [] for name in changed}
        for name, op in self._in_order:
            if name in changed:
                by_name[name].append(op)
        self._ops_by_name |= by_name

    def _refresh(self) -> None:
        if not self._is_indexed or self._stale:
            self._in_order, self._ops_by_name = _index(self.walk(ir.WalkOrder.PRE_ORDER))
            self._is_indexed = True
            self._stale.clear()

    def walk(self, order: ir.WalkOrder) -> list[ir.Operation]:
        """Return the ops below the module: parents first, in text order, or parents last."""
        ops: list[ir.Operation] = []
        advance = ir.WalkResult.ADVANCE

        def visit(op: ir.Operation) -> ir.WalkResult:
            ops.append(op)
            return advance

        for view in self.module.body.operations:
            op = view.operation
            if op.name == MODULE:
                ops.append(op)
            else:
                op.walk(visit, order)
        return ops

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


def _index(
    ops: Sequence[ir.Operation],
) -> tuple[list[NamedOp], dict[str, list[ir.Operation]]]:
    in_order = [(op.name, op) for op in ops]
    by_name: dict[str, list[ir.Operation]] = {}
    for name, op in in_order:
        by_name.setdefault(name, []).append(op)
    return in_order, by_name


def _module_meshes(module: ir.Module) -> Iterator[tuple[str, Mesh]]:
    for op in module.body.operations:
        if isinstance(op, mlir_sdy.MeshOp):
            name = symbol_name(op.operation)
            try:
                mesh = read_mesh(op.mesh, name)
            except Error as error:
                raise op_error(op, str(error)) from None
            yield name, mesh
