"""Random programs of one op, each tensor of which is sharded at random over eight devices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from sdy.dialect.axes import AxisRef
from sdy.dialect.mesh import Mesh
from sdy.dialect.printer import to_mlir
from sdy.dialect.sharding import DimensionSharding, TensorSharding

__all__ = ["CONTRACTIONS", "OTHERS", "one_op_program"]

MESHES = (
    Mesh({"x": 2, "y": 2, "z": 2}, name="cube"),
    Mesh({"x": 2, "y": 4}, name="wide"),
    Mesh({"x": 4, "y": 2}, name="tall"),
)
SIZES = (8, 16, 32)

Shape = Sequence[int]


@dataclass(frozen=True, slots=True)
class OneOp:
    """An op: the shapes of its operands and its result, and its text without types of results."""

    operands: Sequence[Shape]
    result: Shape
    text: str


def _type(shape: Shape) -> str:
    return "tensor<" + "".join(f"{size}x" for size in shape) + "f32>"


def _shape(random: Random, rank: int) -> list[int]:
    return [random.choice(SIZES) for _ in range(rank)]


def _op(text: str, operands: Sequence[Shape], result: Shape) -> OneOp:
    types = ", ".join(map(_type, operands))
    return OneOp(operands, result, f"{text} {{}} : ({types}) -> {_type(result)}")


def _add(random: Random) -> OneOp:
    shape = _shape(random, random.randint(1, 3))
    return _op('"stablehlo.add"(%a0, %a1)', [shape, shape], shape)


def _transpose(random: Random) -> OneOp:
    shape, order = _shape(random, 3), random.sample(range(3), 3)
    text = f'"stablehlo.transpose"(%a0) <{{permutation = array<i64: {_join(order)}>}}>'
    return _op(text, [shape], [shape[i] for i in order])


def _broadcast(random: Random) -> OneOp:
    shape = _shape(random, 2)
    text = '"stablehlo.broadcast_in_dim"(%a0) <{broadcast_dimensions = array<i64: 0, 2>}>'
    return _op(text, [shape], [shape[0], random.choice(SIZES), shape[1]])


def _concatenate(random: Random) -> OneOp:
    first, width = _shape(random, 2), random.choice(SIZES)
    second = [first[0], width]
    text = '"stablehlo.concatenate"(%a0, %a1) <{dimension = 1 : i64}>'
    return _op(text, [first, second], [first[0], first[1] + width])


def _reverse(random: Random) -> OneOp:
    shape = _shape(random, 2)
    return _op('"stablehlo.reverse"(%a0) <{dimensions = array<i64: 1>}>', [shape], shape)


def _dot(random: Random) -> OneOp:
    batch, rows, summed, columns = (random.choice(SIZES) for _ in range(4))
    shapes = {
        0: ([rows, summed], [summed, columns], [rows, columns]),
        1: ([batch, rows, summed], [batch, summed, columns], [batch, rows, columns]),
    }
    batches = random.randint(0, 1)
    first, second, result = shapes[batches]
    numbers = (
        "#stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], "
        "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>"
        if batches
        else "#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>"
    )
    text = f'"stablehlo.dot_general"(%a0, %a1) <{{dot_dimension_numbers = {numbers}}}>'
    return _op(text, [first, second], result)


def _general_dot(random: Random) -> OneOp:
    """Return a dot of several dimensions of each kind, in any order in its operands."""
    batch, summed, left, right = (
        _shape(random, random.randint(least, 2)) for least in (0, 1, 1, 0)
    )
    operands, places, result = [], [], list(batch)
    for free in (left, right):
        sizes = [*batch, *summed, *free]
        order = random.sample(range(len(sizes)), len(sizes))
        operands.append([sizes[i] for i in order])
        places.append([order.index(i) for i in range(len(sizes))])
        result += [sizes[i] for i in order if i >= len(batch) + len(summed)]
    named = {"batching": (0, len(batch)), "contracting": (len(batch), len(batch) + len(summed))}
    numbers = ", ".join(
        f"{side}_{kind}_dimensions = [{_join(place[start:end])}]"
        for kind, (start, end) in named.items()
        for side, place in zip(("lhs", "rhs"), places, strict=True)
    )
    text = (
        f'"stablehlo.dot_general"(%a0, %a1) <{{dot_dimension_numbers = #stablehlo.dot<{numbers}>}}>'
    )
    return _op(text, operands, result)


def _join(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


OTHERS: dict[str, Callable[[Random], OneOp]] = {
    "add": _add,
    "transpose": _transpose,
    "broadcast": _broadcast,
    "concatenate": _concatenate,
    "reverse": _reverse,
}
CONTRACTIONS: dict[str, Callable[[Random], OneOp]] = {
    "dot": _dot,
    "dot_general": _general_dot,
}


def one_op_program(
    make: Callable[[Random], OneOp], seed: int, *, is_result_sharded: bool = True
) -> str:
    """Return the text of a module with one op.

    Args:
      make: the op.
      seed: of what is random.
      is_result_sharded: whether the result is sharded at random too, or not at all.

    """
    random = Random(seed)
    op, mesh = make(random), random.choice(MESHES)
    arguments = ", ".join(
        f"%a{i}: {_type(shape)} {{sdy.sharding = {to_mlir(_sharding(mesh, shape, random))}}}"
        for i, shape in enumerate(op.operands)
    )
    result, said = "", ""
    if is_result_sharded:
        sharding = _sharding(mesh, op.result, random)
        result = f" {{sdy.sharding = {to_mlir(sharding)}}}"
        said = f"sdy.sharding = #sdy.sharding_per_value<[<{sharding.body}>]>"
    return f"""sdy.mesh {mesh}
func.func @main({arguments}) -> ({_type(op.result)}{result}) {{
  %0 = {op.text.replace("{}", f"{{{said}}}")}
  return %0 : {_type(op.result)}
}}"""


def _sharding(mesh: Mesh, shape: Shape, random: Random) -> TensorSharding:
    axes: list[list[AxisRef]] = [[] for _ in shape]
    for axis in random.sample(mesh.axes, len(mesh.axes)):
        if random.random() < 0.6:
            random.choice(axes).append(AxisRef(axis.name))
    return TensorSharding(mesh, tuple(DimensionSharding(tuple(each)) for each in axes))
