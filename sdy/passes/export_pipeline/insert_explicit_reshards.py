"""Inserts reshards where an op's tensors are not sharded in ways that go together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sdy.ir.data_flow import DATA_FLOW_OPS
from sdy.ir.op_names import FUNCTION
from sdy.ir.op_traits import is_terminator
from sdy.passes.base import Pass, option
from sdy.passes.export_pipeline.explicit_reshards.inserter import ALWAYS_RESHARDED, Inserter
from sdy.passes.export_pipeline.explicit_reshards.unchanged_ops import UnchangedOps
from sdy.passes.export_pipeline.explicit_reshards.unreduced_search import may_have_unreduced_axes

if TYPE_CHECKING:
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["InsertExplicitReshards"]

_HOLDERS = DATA_FLOW_OPS | {FUNCTION}


@dataclass(frozen=True, slots=True)
class InsertExplicitReshards(Pass):
    """Inserts reshards so that the shardings of each op go together.

    Dimensions of one factor are then sharded alike in all operands and results, and no axis
    splits two factors. What such an op leaves to do, such as summing up where a contracted
    dimension is split, becomes an explicit all-reduce. The tensors that win are the larger ones.

    By default only what must be is done: for calls, for concatenations whose operands are not all
    sharded as the result, for dots whose result is cheaper to reshard than their operands, and
    where axes are unreduced.
    """

    name: ClassVar[str] = "sdy-insert-explicit-reshards"
    anchor: ClassVar[str] = FUNCTION
    enable_full_version: bool = option(False, "Whether all ops are treated, not just some.")

    def run(self, module: IndexedModule) -> None:
        """Insert the reshards in place.

        Raises:
          Error: at an op with unreduced axes that do not go with it.

        """
        is_full, has_unreduced_axes = self.enable_full_version, may_have_unreduced_axes(module)
        inserter = Inserter(module, is_full=is_full, has_unreduced_axes=has_unreduced_axes)
        names, ops = module.last_structure.names, module.late_ops
        if has_unreduced_axes:
            module.write_attributes()
            for number in _insides_first(module):
                inserter.visit(ops[number], names[number])
        else:
            unchanged = UnchangedOps(module, is_full=is_full)
            for number in _insides_first(module) if is_full else _always_resharded(module):
                if not unchanged.contains(number):
                    unchanged.prepare(number)
                    inserter.visit(ops[number], names[number])
                    unchanged.leave_out(number)
        if inserter.has_changed:
            module.ops_changed()


def _always_resharded(module: IndexedModule) -> list[int]:
    return sorted([n for name in ALWAYS_RESHARDED for n in module.numbers(name)])


def _insides_first(module: IndexedModule) -> list[int]:
    """Return ops in the order of the text, but functions and data-flow ops after what is in them.

    Terminators are left out.
    """
    structure, erased = module.last_structure, module.changes.erased
    around: list[int] = []
    ordered: list[int] = []
    for number, name in enumerate(structure.names):
        while around and structure.ends[around[-1]] <= number:
            ordered.append(around.pop())
        if number in erased or is_terminator(name):
            continue
        if name in _HOLDERS and number in structure.bodies:
            around.append(number)
        else:
            ordered.append(number)
    return ordered + around[::-1]
