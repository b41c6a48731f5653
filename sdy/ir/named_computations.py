"""What calls and named computations have in common: one turns into the other and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jaxlib.mlir import ir

from sdy.ir.data_flow import NAMED_COMPUTATION, region_terminator
from sdy.ir.op_names import CALL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["EXECUTION_THREAD", "discardable_attributes", "in_post_order", "move_body"]

EXECUTION_THREAD: Final = "execution_thread"

_INHERENT = {
    CALL: frozenset({"callee", "arg_attrs", "res_attrs", "no_inline"}),
    NAMED_COMPUTATION: frozenset({"name", "in_shardings", "out_shardings"}),
}


def discardable_attributes(op: ir.Operation) -> dict[str, ir.Attribute]:
    """Return the attributes of a call or named computation that do not belong to its kind."""
    inherent = _INHERENT[op.name]
    return {name: value for name, value in op.attributes.items() if name not in inherent}


def move_body(source: ir.Operation, target: ir.Operation, terminator: str) -> ir.Operation:
    """Move the block of one op into the empty region of another.

    The block ends in an op of the name `terminator` then, which is returned, with the operands of
    the old one.
    """
    source.regions[0].blocks[0].append_to(target.regions[0])
    old = region_terminator(target.regions[0])
    new = ir.Operation.create(
        terminator, operands=list(old.operands), loc=old.location, ip=ir.InsertionPoint(old)
    )
    old.erase()
    return new


def in_post_order(ops: Sequence[ir.Operation]) -> Iterator[ir.Operation]:
    """Yield ops of one kind, given in the order of the text, each after those inside it."""
    around: list[ir.Operation] = []
    for op in ops:
        while around and not _is_inside(op, around[-1]):
            yield around.pop()
        around.append(op)
    yield from reversed(around)


def _is_inside(op: ir.Operation, ancestor: ir.Operation) -> bool:
    parent = op.parent
    while parent is not None and parent.operation != ancestor:
        parent = parent.operation.parent
    return parent is not None
