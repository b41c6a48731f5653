"""Values that a loop hands on unchanged, taken out of what it carries.

XLA turns them into values that the body captures when it reads the program, but leaves the
loop's sharding as it was, with an entry too many. So it must find none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jaxlib.mlir import ir

from sdy.dialect.hlo_sharding import HloSharding
from sdy.dialect.mesh import Mesh
from sdy.dialect.sharding import TensorSharding
from sdy.ir.attributes import SHARDING
from sdy.ir.data_flow import WHILE, region_terminator
from sdy.ir.op_names import RESHARD
from sdy.ir.types import rank
from sdy.passes.base import Pass, option
from sdy.passes.gspmd.xla_names import HLO_SHARDING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.ir.attributes import AttributeCodec
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["CaptureLoopInvariants", "capture_without_copies"]


@dataclass(frozen=True, slots=True)
class CaptureLoopInvariants(Pass):
    """Lets loops capture what they do not change in place of carrying it.

    Such a value is resharded before the loop to the sharding that it had in the loop: XLA reads
    the program so that loops capture it, and would find a sharding too many on them.
    """

    name: ClassVar[str] = "sdy-capture-loop-invariants"

    replicate_missing: bool = option(
        False, "Whether loops without a sharding are replicated, not left alone.", in_shardy=False
    )

    def run(self, module: IndexedModule) -> None:
        """Change the loops in place."""
        changed = [
            _capture_resharded(loop, module.codec)
            for loop in module.ops(WHILE)
            if SHARDING in loop.attributes or self.replicate_missing
        ]
        if any(changed):
            module.ops_changed()


def capture_without_copies(loop: ir.Operation, codec: AttributeCodec) -> bool:
    """Replace a `stablehlo.while` by one that captures what it does not change, as it is.

    Return whether there was such a value.
    """
    invariant = _invariant(loop)
    if invariant:
        _capture(loop, invariant, [loop.operands[i] for i in invariant])
        _drop(loop, invariant, codec)
    return bool(invariant)


def _capture_resharded(loop: ir.Operation, codec: AttributeCodec) -> bool:
    invariant = _invariant(loop)
    if invariant:
        shardings = _shardings(loop, codec)
        values = [_resharded(loop, loop.operands[i], shardings[i], codec) for i in invariant]
        _capture(loop, invariant, values)
        _drop(loop, invariant, codec)
    return bool(invariant)


def _invariant(loop: ir.Operation) -> list[int]:
    """Return the places of what a loop does not change; none where it changes nothing at all."""
    returned = region_terminator(loop.regions[1]).operands
    carried = loop.regions[1].blocks[0].arguments
    invariant = [
        i for i, operand in enumerate(loop.operands) if returned[i] in (carried[i], operand)
    ]
    return invariant if len(invariant) < len(carried) else []


def _shardings(loop: ir.Operation, codec: AttributeCodec) -> tuple[TensorSharding, ...]:
    per_value = loop.attributes.get(SHARDING)
    if per_value is not None:
        return codec.shardings(per_value)
    nowhere = Mesh()
    return tuple(TensorSharding.fully_closed(nowhere, rank(result.type)) for result in loop.results)


def _resharded(
    loop: ir.Operation, value: ir.Value, sharding: TensorSharding, codec: AttributeCodec
) -> ir.Value:
    if not isinstance(value.type, ir.RankedTensorType):
        return value
    return ir.Operation.create(
        RESHARD,
        results=[value.type],
        operands=[value],
        attributes={"sharding": codec.attribute(sharding)},
        loc=loop.location,
        ip=ir.InsertionPoint(loop),
    ).results[0]


def _capture(loop: ir.Operation, invariant: Sequence[int], values: Sequence[ir.Value]) -> None:
    before, after = (region.blocks[0] for region in loop.regions)
    for i, value in zip(invariant, values, strict=True):
        for inside in (before.arguments[i], after.arguments[i], loop.results[i]):
            inside.replace_all_uses_with(value)


def _drop(loop: ir.Operation, invariant: Sequence[int], codec: AttributeCodec) -> None:
    kept = [i for i in range(len(loop.operands)) if i not in invariant]
    terminator = region_terminator(loop.regions[1])
    ir.Operation.create(
        "stablehlo.return",
        operands=[terminator.operands[i] for i in kept],
        loc=terminator.location,
        ip=ir.InsertionPoint(terminator),
    )
    terminator.erase()
    attributes = dict(loop.attributes.items())
    if SHARDING in attributes:
        shardings = codec.shardings(attributes[SHARDING])
        attributes[SHARDING] = codec.list_attribute(tuple(shardings[i] for i in kept))
    if HLO_SHARDING in attributes:
        leaves = HloSharding.parse(ir.StringAttr(attributes[HLO_SHARDING]).value).leaves()
        if len(leaves) == len(loop.operands):
            text = str(HloSharding.tuple_of(leaves[i] for i in kept))
            attributes[HLO_SHARDING] = ir.StringAttr.get(text, loop.context)
    new = ir.Operation.create(
        WHILE,
        results=[loop.results[i].type for i in kept],
        operands=[loop.operands[i] for i in kept],
        attributes=attributes,
        regions=2,
        loc=loop.location,
        ip=ir.InsertionPoint(loop),
    )
    for old_region, region in zip(loop.regions, new.regions, strict=True):
        block = old_region.blocks[0]
        for i in reversed(invariant):
            block.erase_argument(i)
        block.append_to(region)
    for i, result in zip(kept, new.results, strict=True):
        loop.results[i].replace_all_uses_with(result)
    loop.erase()
