"""Cases of ops that place elements elsewhere: reshapes, broadcasts, slices, concatenations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tests.differential.rule_cases.text import array, case, tensor

if TYPE_CHECKING:
    from tests.differential.rule_cases.text import Cases, Draw

__all__ = ["broadcasts", "concatenations", "dynamic_slices", "layouts", "reshapes", "slices"]


def reshapes(draw: Draw, scale: int) -> Cases:
    for count in (0, 1, 2, 6, 12, 24, 36, 60, 64, 120, 216, 360, 1260):
        for _ in range(scale if count > 2 else 3):
            sides = [tensor(_factorization(draw, count)) for _ in range(2)]
            yield case("stablehlo.reshape", sides[:1], sides[1:])


def _factorization(draw: Draw, count: int) -> list[int]:
    """Return sizes with that product, in any order, with ones among them."""
    if count == 0:
        return draw.choice([[0], [2, 0], [0, 3, 1]])
    sizes = []
    while count > 1:
        size = draw.choice([d for d in range(2, count + 1) if count % d == 0])
        sizes.append(size)
        count //= size
    sizes += [1] * draw.choice([0, 0, 0, 1, 2])
    draw.shuffle(sizes)
    return sizes


def broadcasts(draw: Draw, scale: int) -> Cases:
    for _ in range(3 * scale):
        result = draw.shape(0, 5)
        dims = draw.subset(len(result))
        draw.shuffle(dims)
        operand = [draw.choice([1, result[dim]]) for dim in dims]
        yield case(
            "stablehlo.broadcast_in_dim",
            [tensor(operand)],
            [tensor(result)],
            f"broadcast_dimensions = {array(dims)}",
        )


def layouts(draw: Draw, scale: int) -> Cases:
    for _ in range(2 * scale):
        shape = draw.shape(0, 5)
        permutation = draw.sample(range(len(shape)), len(shape))
        yield case(
            "stablehlo.transpose",
            [tensor(shape)],
            [tensor([shape[dim] for dim in permutation])],
            f"permutation = {array(permutation)}",
        )
        dims = f"dimensions = {array(draw.subset(len(shape)))}"
        yield case("stablehlo.reverse", [tensor(shape)], [tensor(shape)], dims)


def slices(draw: Draw, scale: int) -> Cases:
    for _ in range(2 * scale):
        shape = draw.shape()
        starts = [draw.choice([0, 0, draw.randrange(size)]) for size in shape]
        limits = [
            draw.choice([size, draw.randint(start, size)])
            for start, size in zip(starts, shape, strict=True)
        ]
        strides = [draw.choice([1, 1, 2]) for _ in shape]
        result = [
            math.ceil((limit - start) / stride)
            for start, limit, stride in zip(starts, limits, strides, strict=True)
        ]
        yield case(
            "stablehlo.slice",
            [tensor(shape)],
            [tensor(result)],
            f"start_indices = {array(starts)}, limit_indices = {array(limits)}, "
            f"strides = {array(strides)}",
        )
        low, high, interior = ([draw.choice([0, 0, 0, 1]) for _ in shape] for _ in range(3))
        padded = [
            low_pad + size + max(size - 1, 0) * inside + high_pad
            for low_pad, size, inside, high_pad in zip(low, shape, interior, high, strict=True)
        ]
        yield case(
            "stablehlo.pad",
            [tensor(shape), "tensor<f32>"],
            [tensor(padded)],
            f"edge_padding_low = {array(low)}, edge_padding_high = {array(high)}, "
            f"interior_padding = {array(interior)}",
        )


def dynamic_slices(draw: Draw, scale: int) -> Cases:
    constants = (
        "stablehlo.constant dense<0> : tensor<i32>",
        "arith.constant dense<0> : tensor<i32>",
        "sdy.constant dense<0> : tensor<i32>",
        "ub.poison : tensor<i32>",
        "stablehlo.iota dim = 0 : tensor<1xi32>",
    )
    for _ in range(2 * scale):
        shape = draw.shape(1)
        part = [draw.choice([size, draw.randint(1, size)]) for size in shape]
        index_types = ["tensor<i32>"] * len(shape)
        yield case(
            "stablehlo.dynamic_slice",
            [tensor(shape), *index_types],
            [tensor(part)],
            f"slice_sizes = {array(part)}",
        )
        operands = [tensor(shape), tensor(part), *index_types]
        yield case("stablehlo.dynamic_update_slice", operands, [tensor(shape)])
        sources = draw.choices(constants, k=len(shape))
        if draw.random() < 0.7:
            sources = draw.choices(constants[:4], k=len(shape))
        text = ""
        for i, source in enumerate(sources):
            if "iota" in source:
                text += f"%s{i} = {source} %i{i} = stablehlo.reshape %s{i} : "
                text += "(tensor<1xi32>) -> tensor<i32> "
            else:
                text += f"%i{i} = {source} "
        indices = "".join(f", %i{i}" for i in range(len(shape)))
        yield (
            f"func.func @case(%a: {operands[0]}, %b: {operands[1]}) {{ {text}"
            f'%r = "stablehlo.dynamic_update_slice"(%a, %b{indices}) : '
            f"({', '.join(operands)}) -> {tensor(shape)} return }}"
        )


def concatenations(draw: Draw, scale: int) -> Cases:
    for _ in range(2 * scale):
        shape = draw.shape(1)
        dim = draw.randrange(len(shape))
        parts = [
            tensor([*shape[:dim], draw.size(), *shape[dim + 1 :]])
            for _ in range(draw.randint(1, 3))
        ]
        sizes = [int(part[7:-4].split("x")[dim]) for part in parts]
        joined = tensor([*shape[:dim], sum(sizes), *shape[dim + 1 :]])
        yield case("stablehlo.concatenate", parts, [joined], f"dimension = {dim} : i64")
        yield _rotation(draw, shape, dim)


def _rotation(draw: Draw, shape: list[int], dim: int) -> str:
    """Return a concatenate of tensors and of slices of them."""
    whole, cut = tensor(shape), tensor([*shape[:dim], 1, *shape[dim + 1 :]])
    ranges = ", ".join(f"0:{1 if d == dim else size}" for d, size in enumerate(shape))
    values = ["%a", "%b", "%sa", "%sb", "%sa2"]
    joined = draw.choices(values, k=draw.randint(1, 3))
    types = [cut if value.startswith("%s") else whole for value in joined]
    size = sum(1 if value.startswith("%s") else shape[dim] for value in joined)
    result = tensor([*shape[:dim], size, *shape[dim + 1 :]])
    slices = "".join(
        f"%{name} = stablehlo.slice {source} [{ranges}] : ({whole}) -> {cut} "
        for name, source in (("sa", "%a"), ("sb", "%b"), ("sa2", "%a"))
    )
    return (
        f"func.func @case(%a: {whole}, %b: {whole}) {{ {slices}"
        f'%r = "stablehlo.concatenate"({", ".join(joined)}) <{{dimension = {dim} : i64}}> : '
        f"({', '.join(types)}) -> {result} return }}"
    )
