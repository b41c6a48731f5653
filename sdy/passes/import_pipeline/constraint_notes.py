"""What applying sharding constraints changes in the structure of a module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.ir.op_names import CONSTRAINT
from sdy.ir.structure import NOTHING

if TYPE_CHECKING:
    from collections.abc import Collection

    from jaxlib.mlir import ir

    from sdy.ir.indexed_module import IndexedModule
    from sdy.ir.structure_edit import StructureEdit

__all__ = ["ConstraintNotes"]


class ConstraintNotes:
    """Notes changes to the structure, in the order in which they are made.

    Constraints are known by their numbers. What cannot be followed lets the module forget its
    structure.
    """

    def __init__(self, module: IndexedModule, *, follows: bool) -> None:
        """Note nothing yet.

        Args:
          module: the module.
          follows: whether constraints are all that is applied, so that this can follow.

        """
        self._module = module
        self._has_changed = False
        self._edit: StructureEdit | None = None
        if follows:
            self._structure = module.structure
            self._edit = module.edit()

    def lose(self) -> None:
        """Note a change that is not followed."""
        self._has_changed = True
        self._edit = None

    def redirected(self, head: int, tail: ir.Operation, uses: Collection[int]) -> None:
        """Note that users of the input of a chain use its result now.

        Args:
          head: the first constraint of the chain.
          tail: the last one.
          uses: which uses, in the order in which they have changed, among all, the newest first.

        """
        edit = self._edit
        self._has_changed |= bool(uses)
        if edit is None or not uses:
            return
        all_uses = edit.uses.newest_first(edit.operands(head)[0])
        last = head
        while edit.ops[last] != tail:
            last = edit.uses.newest_first(edit.results(last)[0])[0][0]
        result = edit.results(last)[0]
        for use in uses:
            user, position = all_uses[use]
            edit.set_operand(user, position, result)

    def applied(self, constraint: int, owner: ir.Operation | None) -> None:
        """Note that a constraint and the op with the sharding of its input have new attributes.

        Args:
          constraint: the constraint.
          owner: that op, if there is one.

        """
        self._has_changed = True
        edit = self._edit
        if edit is None:
            return
        edit.attributes_changed(constraint)
        value = edit.operands(constraint)[0]
        producer = self._structure.producers[value]
        number = self._structure.arguments[value][0] if producer == NOTHING else int(producer)
        if owner is None:
            return
        if edit.ops[number] == owner:
            edit.attributes_changed(number)
        else:
            self.lose()

    def moved(self, constraint: int) -> None:
        """Note that a constraint stands right behind its input, and all other users use it."""
        self._has_changed = True
        edit = self._edit
        if edit is not None:
            value = edit.operands(constraint)[0]
            edit.move(constraint, self._place_behind(value))
            edit.move_uses(value, edit.results(constraint)[0], but_for=constraint)

    def finish(self) -> None:
        """Tell the module of all changes."""
        if not self._has_changed:
            return
        if self._edit is None:
            self._module.ops_changed(CONSTRAINT)
        else:
            self._module.apply(self._edit)

    def _place_behind(self, value: int) -> int:
        """Return the op right behind the definition of a value; regions have one block each."""
        structure = self._structure
        producer = structure.producers[value]
        if producer != NOTHING:
            return structure.ends.get(producer, int(producer) + 1)
        op, region, _, _ = structure.arguments[value]
        place = op + 1
        for _, _, last in structure.bodies[op][:region]:
            place = structure.ends.get(last, last + 1)
        return place
