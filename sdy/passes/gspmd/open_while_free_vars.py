"""What loops capture may be sharded further inside than outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.dialect.sharding import TensorSharding
from sdy.ir.data_flow import WHILE
from sdy.ir.named_computations import in_post_order
from sdy.ir.op_names import CONSTRAINT, FUNCTION
from sdy.ir.value_sharding import sharding_of
from sdy.ir.values import operations
from sdy.passes.base import Pass

if TYPE_CHECKING:
    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["OpenWhileFreeVarsSharding"]


@dataclass(frozen=True, slots=True)
class OpenWhileFreeVarsSharding(Pass):
    """Adds an open constraint to values with a sharding that loops capture, for use in the loop.

    XLA makes them operands and results of the loop: they may have another sharding there.
    """

    name: ClassVar[str] = "xla-sdy-open-while-free-vars-sharding"
    anchor: ClassVar[str] = FUNCTION

    def run(self, module: IndexedModule) -> None:
        """Add the constraints in place."""
        loops = module.ops(WHILE)
        changed = [_open_free_variables(loop, module.codec) for loop in in_post_order(loops)]
        if any(changed):
            module.ops_changed()


def _open_free_variables(loop: ir.Operation, codec: AttributeCodec) -> bool:
    inner = set(operations(loop))
    uses: dict[ir.Value, list[tuple[ir.Operation, int]]] = {}
    for op in operations(loop):
        for number, value in enumerate(op.operands):
            if not _is_defined_in(value, inner, loop):
                uses.setdefault(value, []).append((op, number))
    has_changed = False
    for value, users in uses.items():
        sharding = sharding_of(value, codec)
        if sharding is None or not sharding.rank:
            continue
        opened = TensorSharding.fully_open(sharding.mesh, sharding.rank)
        if sharding == opened:
            continue
        constraint = ir.Operation.create(
            CONSTRAINT,
            results=[value.type],
            operands=[value],
            attributes={"sharding": codec.attribute(opened)},
            loc=value.location,
            ip=ir.InsertionPoint(loop),
        )
        for user, number in users:
            user.operands[number] = constraint.results[0]
        has_changed = True
    return has_changed


def _is_defined_in(value: ir.Value, inner: set[ir.Operation], loop: ir.Operation) -> bool:
    if isinstance(value, ir.BlockArgument):
        owner = value.owner.owner.operation
        return owner == loop or owner in inner
    return value.owner.operation in inner
