"""A reshard of data that an earlier op has resharded alike, up to reshapes and transposes.

The earlier result, reshaped and transposed as the operand was, takes the place of the reshard:
moving data between devices costs, renaming dimensions does not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from jaxlib.mlir import ir

from sdy.ir.op_names import RESHARD
from sdy.ir.value_sharding import sharding_of
from sdy.passes.canonicalize.driver import Rewriter, pattern
from sdy.passes.canonicalize.operations import after, users
from sdy.passes.canonicalize.stand_in import may_stand_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.mesh import Mesh
    from sdy.dialect.sharding import TensorSharding

__all__ = ["reshard_common_subexpression"]

RESHAPE = "stablehlo.reshape"
TRANSPOSE = "stablehlo.transpose"

Layout: TypeAlias = "list[tuple[AxisRef, int]]"


@pattern(RESHARD)
def reshard_common_subexpression(op: ir.Operation, rewriter: Rewriter) -> bool:
    """Use the earlier result in place of this one."""
    operand = op.operands[0]
    path = _path_to_root(operand)
    root = path[-1].operands[0] if path else operand
    earlier = _earlier_reshard(op, root, path, rewriter)
    if earlier is None:
        return False
    model = path[0].result if path else earlier
    if not may_stand_in(sharding_of(model, rewriter.codec), op.result, rewriter.codec):
        return False
    value = earlier
    if value.type != root.type:
        value = rewriter.create(
            RESHAPE, [value], {}, root.type, at=after(value), location=op.location
        )
    for step in reversed(path):
        value = rewriter.clone(step, value, at=after(value))
    rewriter.replace(op, [value])
    return True


def _path_to_root(value: ir.Value) -> list[ir.Operation]:
    """Return the reshapes and transposes that made `value`, the last one first."""
    path: list[ir.Operation] = []
    while isinstance(value, ir.OpResult):
        op: ir.Operation = value.owner.operation
        if op.name not in (RESHAPE, TRANSPOSE):
            break
        path.append(op)
        value = op.operands[0]
    return path


def _earlier_reshard(
    op: ir.Operation, root: ir.Value, path: list[ir.Operation], rewriter: Rewriter
) -> ir.Value | None:
    """Return an earlier result that lays out `root`, or a reshape of it, as `op` would."""
    codec = rewriter.codec
    attribute = op.attributes["sharding"]
    target = _on_root(codec.sharding(attribute), path)
    for other in _reshards_of_reshapes(root):
        if other == op:
            continue
        sharding = codec.sharding(other.attributes["sharding"])
        if (
            _is_equivalent(sharding, other.result.type, target, op.result.type)
            and other.block == op.block
            and other.is_before_in_block(op)
        ):
            return other.result
    return None


def _on_root(sharding: TensorSharding, path: list[ir.Operation]) -> TensorSharding:
    """Return the sharding with its dimensions ordered as before the transposes of `path`.

    A reshape that changes the rank ends the search for transposes.
    """
    for op in path:
        if op.name == TRANSPOSE:
            permutation = list(ir.DenseI64ArrayAttr(op.attributes["permutation"]))
            dimensions = dict(zip(permutation, sharding.dimensions, strict=True))
            sharding = replace(
                sharding, dimensions=tuple(dimensions[i] for i in range(len(permutation)))
            )
        elif _rank(op.operands[0]) != _rank(op.result):
            break
    return sharding


def _rank(value: ir.Value) -> int:
    rank: int = ir.RankedTensorType(value.type).rank
    return rank


def _reshards_of_reshapes(root: ir.Value) -> Iterator[ir.Operation]:
    """Yield the reshards of `root` and of what is made of it by reshapes alone."""
    pending, seen = [root], {root}
    while pending:
        for user in users(pending.pop()):
            if user.name == RESHARD:
                yield user
            elif user.name == RESHAPE and user.result not in seen:
                seen.add(user.result)
                pending.append(user.result)


def _is_equivalent(
    first: TensorSharding, first_type: ir.Type, second: TensorSharding, second_type: ir.Type
) -> bool:
    """Return whether both put the same elements, counted row-major, on the same devices."""
    if first == second and first_type == second_type:
        return True
    if first.mesh != second.mesh or first.replicated != second.replicated:
        return False
    if not _is_plain(first_type) or not _is_plain(second_type):
        return False
    mesh = first.bound_mesh
    return _layout(first, first_type, mesh) == _layout(second, second_type, mesh)


def _is_plain(type_: ir.Type) -> bool:
    return isinstance(type_, ir.RankedTensorType) and type_.encoding is None


def _layout(sharding: TensorSharding, type_: ir.Type, mesh: Mesh) -> Layout:
    """Return the axes in use, minor first, each with the elements between two shards along it."""
    strides: Layout = []
    inner = 1
    for size, dimension in zip(
        reversed(ir.RankedTensorType(type_).shape), reversed(sharding.dimensions), strict=True
    ):
        stride = inner * -(-size // dimension.sharded_size(mesh))
        for axis in reversed(dimension.axes):
            strides.append((axis, stride))
            stride *= axis.size(mesh)
        inner *= size
    return sorted(strides, key=lambda entry: entry[1])
