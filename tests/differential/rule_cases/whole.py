"""Cases of ops that need whole dimensions or all devices: decompositions, sorts, collectives."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from tests.differential.rule_cases.text import array, case, combiner, tensor

if TYPE_CHECKING:
    from tests.differential.rule_cases.text import Cases, Draw

__all__ = ["collectives", "decompositions", "ffts", "others", "sorts"]


def decompositions(draw: Draw, scale: int) -> Cases:
    for _ in range(scale // 2):
        shape = draw.shape(1, 4)
        square = tensor([*shape, shape[-1]])
        yield case("stablehlo.cholesky", [square], [square], "lower = true")
        other = draw.size()
        for left, transpose in product((True, False), ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")):
            sides = (shape[-1], other) if left else (other, shape[-1])
            rhs = tensor([*shape[:-1], *sides])
            yield case(
                "stablehlo.triangular_solve",
                [square, rhs],
                [rhs],
                f"left_side = {str(left).lower()}, lower = true, unit_diagonal = false, "
                f"transpose_a = #stablehlo<transpose {transpose}>",
            )


def ffts(draw: Draw, scale: int) -> Cases:
    for _ in range(scale):
        shape = draw.shape(1)
        length = shape[-draw.randint(1, min(3, len(shape))) :]
        complexes = tensor(shape, "complex<f32>")
        half = tensor([*shape[:-1], shape[-1] // 2 + 1], "complex<f32>")
        for kind, operand, result in (
            ("FFT", complexes, complexes),
            ("IFFT", complexes, complexes),
            ("RFFT", tensor(shape), half),
            ("IRFFT", half, tensor(shape)),
        ):
            yield case(
                "stablehlo.fft",
                [operand],
                [result],
                f"fft_type = #stablehlo<fft_type {kind}>, fft_length = {array(length)}",
            )


def sorts(draw: Draw, scale: int) -> Cases:
    for _ in range(scale):
        shape = draw.shape(1)
        elements = draw.choice([["f32"], ["f32", "i32"]])
        arguments = ", ".join(
            f"%{side}{i}: tensor<{e}>" for i, e in enumerate(elements) for side in "ab"
        )
        region = (
            f"^bb0({arguments}): "
            "%p = stablehlo.compare LT, %a0, %b0 : (tensor<f32>, tensor<f32>) -> tensor<i1> "
            "stablehlo.return %p : tensor<i1>"
        )
        types = [tensor(shape, e) for e in elements]
        for dim in range(-1, len(shape)):
            yield case("stablehlo.sort", types, types, f"dimension = {dim} : i64", region)
        yield case("stablehlo.sort", types, types, "", region)


def others(draw: Draw, scale: int) -> Cases:
    for _ in range(scale // 2):
        shape = draw.shape(1)
        feature = draw.randrange(len(shape))
        statistics = [tensor([shape[feature]])] * 4
        yield case(
            "stablehlo.batch_norm_inference",
            [tensor(shape), *statistics],
            [tensor(shape)],
            f"epsilon = 0.1 : f32, feature_index = {feature} : i64",
        )
        state = tensor([draw.choice([1, 2, 3])], "ui64")
        yield case(
            "stablehlo.rng_bit_generator",
            [state],
            [state, tensor(shape, "ui32")],
            "rng_algorithm = #stablehlo<rng_algorithm DEFAULT>",
        )


def collectives(draw: Draw, scale: int) -> Cases:
    groups = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"
    add = combiner(["f32"], "%r = stablehlo.add %a0, %b0 : tensor<f32>", "%r")
    for _ in range(scale // 2):
        shape = draw.shape(1)
        same = tensor(shape)
        count = draw.randint(1, 2)
        yield case("stablehlo.all_reduce", [same] * count, [same] * count, groups, add)
        yield case("stablehlo.cross-replica-sum", [same], [same], groups)
        yield case("stablehlo.collective_broadcast", [same], [same], groups)
        pairs = "source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>"
        yield case("stablehlo.collective_permute", [same], [same], pairs)
        dim = draw.randrange(len(shape))
        doubled = tensor([*shape[:dim], 2 * shape[dim], *shape[dim + 1 :]])
        alone = "replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>"
        yield case("stablehlo.all_gather", [same], [same], f"all_gather_dim = {dim} : i64, {alone}")
        yield case(
            "stablehlo.reduce_scatter",
            [same],
            [same],
            f"scatter_dimension = {dim} : i64, {alone}",
            add,
        )
        yield case(
            "stablehlo.all_to_all",
            [same],
            [same],
            f"split_dimension = {dim} : i64, split_count = 1 : i64, "
            f"concat_dimension = {draw.randrange(len(shape))} : i64, {alone}",
        )
        gather_dim = f"all_gather_dim = {dim} : i64, {groups}"
        yield case("stablehlo.all_gather", [same] * count, [doubled] * count, gather_dim)
        scatter_dim = f"scatter_dimension = {dim} : i64, {groups}"
        yield case("stablehlo.reduce_scatter", [doubled], [same], scatter_dim, add)
        split, concat = (draw.randrange(len(shape)) for _ in range(2))
        before, after = list(shape), list(shape)
        before[split] *= 2
        after[concat] *= 2
        yield case(
            "stablehlo.all_to_all",
            [tensor(before)] * count,
            [tensor(after)] * count,
            f"split_dimension = {split} : i64, concat_dimension = {concat} : i64, "
            f"split_count = 2 : i64, {groups}",
        )
