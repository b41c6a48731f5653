"""Values that a loop hands on unchanged, taken out of what it carries.

XLA turns them into values that the body captures when it reads the program, but leaves the
loop's sharding as it was, with an entry too many. So it must find none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir

from sdy.ir.attributes import SHARDING
from sdy.ir.data_flow import region_terminator
from sdy.ir.op_names import MHLO_COPY
from sdy.passes.gspmd.hlo_shardings import HLO_SHARDING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.ir.attributes import AttributeCodec
    from sdy.passes.gspmd.hlo_shardings import HloShardingAttributes

__all__ = ["capture_invariants"]


def capture_invariants(
    loop: ir.Operation, codec: AttributeCodec, attributes: HloShardingAttributes
) -> None:
    """Replace a `stablehlo.while` by one that captures what it does not change, if any.

    A captured value is copied before the loop, so that it has there the sharding that it had
    in the loop.
    """
    returned = region_terminator(loop.regions[1]).operands
    carried = loop.regions[1].blocks[0].arguments
    invariant = [
        i for i, operand in enumerate(loop.operands) if returned[i] in (carried[i], operand)
    ]
    if not invariant or len(invariant) == len(carried):
        return
    _capture(loop, invariant, _shardings(loop, codec, attributes))
    _drop(loop, invariant, codec)


def _shardings(
    loop: ir.Operation, codec: AttributeCodec, attributes: HloShardingAttributes
) -> list[ir.Attribute]:
    per_value = loop.attributes.get(SHARDING)
    if per_value is None:
        return [attributes.replicated()] * len(loop.results)
    return [
        attributes.of_tensor(loop, codec.attribute(sharding))
        for sharding in codec.shardings(per_value)
    ]


def _capture(
    loop: ir.Operation, invariant: Sequence[int], shardings: Sequence[ir.Attribute]
) -> None:
    before, after = (region.blocks[0] for region in loop.regions)
    for i in invariant:
        value = loop.operands[i]
        if isinstance(value.type, ir.RankedTensorType):
            value = ir.Operation.create(
                MHLO_COPY,
                results=[value.type],
                operands=[value],
                attributes={HLO_SHARDING: shardings[i]},
                loc=loop.location,
                ip=ir.InsertionPoint(loop),
            ).results[0]
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
    new = ir.Operation.create(
        "stablehlo.while",
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
