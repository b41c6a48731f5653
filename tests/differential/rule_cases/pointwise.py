"""Cases of elementwise ops, of custom calls, and of ops that have no rule."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from tests.differential.rule_cases.text import case, tensor, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.differential.rule_cases.text import Cases, Draw

__all__ = ["custom_calls", "elementwise", "without_rule"]

UNARY = words(
    "abs cbrt ceil cosine exponential exponential_minus_one floor log log_plus_one logistic "
    "negate round_nearest_afz round_nearest_even rsqrt sign sine sqrt tan tanh"
)


BINARY = words("add atan2 divide maximum minimum multiply power remainder subtract")


INTEGER_UNARY = words("count_leading_zeros popcnt not")


INTEGER_BINARY = words("and or xor shift_left shift_right_arithmetic shift_right_logical")


POINTWISE_TARGETS = words(
    "annotate_device_placement Cholesky CompactWyHelper InspectSharding "
    "InvertDiagBlocksLowerTriangular InvertDiagBlocksUpperTriangular LayoutConstraint mhlo.erf "
    "MoveToDevice MoveToHost X64SplitHigh X64SplitLow xla.megascale.provide_metadata "
    "_SPMDInternalOp_MultiPad _SPMDInternalOp_RotateRight _SPMDInternalOp_MultiRotate "
    "_SPMDInternalOp_MultiSlice _SPMDInternalOp_Wrap X64Combine"
)


TARGETS_WITHOUT_RULE = words(
    "sdy_testonly tpu_custom_call xla_python_cpu_callback xla_python_gpu_callback "
    "xla_ffi_python_cpu_callback xla_ffi_python_gpu_callback never_heard_of"
)


def elementwise(draw: Draw, scale: int) -> Cases:
    shapes = [[], [0, 3], [1], [4, 1, 8], *(draw.shape() for _ in range(scale // 10))]
    for shape in shapes:
        floats, integers, complexes = (tensor(shape, e) for e in ("f32", "i32", "complex<f32>"))
        booleans = tensor(shape, "i1")
        for name in UNARY:
            yield case(f"stablehlo.{name}", [floats], [floats])
        for name in BINARY:
            yield case(f"stablehlo.{name}", [floats] * 2, [floats])
        for name in INTEGER_UNARY:
            yield case(f"stablehlo.{name}", [integers], [integers])
        for name in INTEGER_BINARY:
            yield case(f"stablehlo.{name}", [integers] * 2, [integers])
        yield case(
            "stablehlo.compare",
            [floats] * 2,
            [booleans],
            "comparison_direction = #stablehlo<comparison_direction LT>",
        )
        yield case("stablehlo.convert", [floats], [integers])
        yield case("stablehlo.complex", [floats] * 2, [complexes])
        yield case("stablehlo.real", [complexes], [floats])
        yield case("stablehlo.imag", [complexes], [floats])
        yield case("stablehlo.is_finite", [floats], [booleans])
        yield case(
            "stablehlo.reduce_precision",
            [floats],
            [floats],
            "exponent_bits = 5 : i32, mantissa_bits = 10 : i32",
        )
        for predicate in (booleans, "tensor<i1>"):
            yield case("stablehlo.select", [predicate, floats, floats], [floats])
        for low, high in product((floats, "tensor<f32>"), repeat=2):
            yield case("stablehlo.clamp", [low, floats, high], [floats])
        yield case("stablehlo.bitcast_convert", [floats], [integers])
        yield case("stablehlo.bitcast_convert", [floats], [tensor([*shape, 4], "i8")])
        yield case("stablehlo.bitcast_convert", [tensor([*shape, 2], "f16")], [floats])
        dimensions = ", ".join(["{}"] * len(shape))
        yield case(
            "sdy.sharding_constraint",
            [floats],
            [floats],
            f"sharding = #sdy.sharding<@mesh, [{dimensions}]>",
        )


def custom_calls(draw: Draw, scale: int) -> Cases:
    for target in POINTWISE_TARGETS + TARGETS_WITHOUT_RULE:
        for _ in range(2):
            same = tensor(draw.shape())
            arity = draw.randint(1, 2)
            yield _call(target, [same] * arity, [same] * draw.randint(1, 2))
        yield _call(target, [same, "tensor<i32>"], [same])
        yield _call(target, [same], ["!stablehlo.token"])
    for _ in range(scale // 5):
        shape = draw.shape(2, 5)
        matrix, vector = tensor(shape), tensor([*shape[:-2], min(shape[-2:])])
        yield _call("Eigh", [tensor([*shape[:-1], shape[-2]])], [matrix, vector])
        for target in ("Qr", "QrDecompositionBlock"):
            yield _call(target, [matrix], [matrix, vector])
        yield _call("ProductOfElementaryHouseholderReflectors", [matrix, vector], [matrix])
        top = [*shape[:-1], draw.randint(1, shape[-1])]
        results = [tensor(top), tensor(top, "i32")]
        yield _call("mhlo.topk", [matrix], results)
        for target in ("ApproxTopK", "PartialReduce"):
            operands = [matrix, tensor(shape, "i32"), "tensor<f32>", "tensor<i32>"]
            yield _call(target, operands, results)
    for size in (1, 2, 4):
        yield _state_of_rng(size)
        halves = [tensor([size], "ui32")] * 2
        yield _call("X64Combine", halves, [tensor([size], "ui64")])


def _call(target: str, operands: Sequence[str], results: Sequence[str]) -> str:
    return case("stablehlo.custom_call", operands, results, f'call_target_name = "{target}"')


def _state_of_rng(size: int) -> str:
    half, state = tensor([size], "ui32"), tensor([size], "ui64")
    return (
        f"func.func @case(%a: {half}) {{"
        f"%0 = stablehlo.custom_call @X64Combine(%a, %a) : ({half}, {half}) -> {state} "
        f"%1, %2 = stablehlo.rng_bit_generator %0, algorithm = DEFAULT : "
        f"({state}) -> ({state}, tensor<4x6xui32>) return }}"
    )


def without_rule(draw: Draw, scale: int) -> Cases:
    del scale
    for shape in ([], [4], draw.shape()):
        same = tensor(shape)
        yield case("arith.addf", [same, same], [same])
        yield case("chlo.erf", [same], [same])
        yield case("math.exp", [same], [same])
        yield case("mhlo.tanh", [same], [same])
        yield case("stablehlo.optimization_barrier", [same], [same])
        yield case("stablehlo.constant", [], ["tensor<f32>"], "value = dense<0.0> : tensor<f32>")
        yield case("sdy.constant", [], ["tensor<f32>"], "value = dense<0.0> : tensor<f32>")
        yield case("sdy.data_flow_edge", [same], [same])
        barrier = "allowed_direction = 0 : i32"
        yield case("sdy.propagation_barrier", [same], [same], barrier)
        dimensions = ", ".join(["{}"] * len(shape))
        reshard = f"sharding = #sdy.sharding<@mesh, [{dimensions}]>"
        yield case("sdy.reshard", [same], [same], reshard)
        yield case("stablehlo.after_all", ["!stablehlo.token"] * 2, ["!stablehlo.token"])
    yield case("stablehlo.iota", [], ["tensor<4xi32>"], "iota_dimension = 0 : i64")
    yield case(
        "stablehlo.rng",
        ["tensor<f32>"] * 2 + ["tensor<1xi64>"],
        ["tensor<4xf32>"],
        "rng_distribution = #stablehlo<rng_distribution UNIFORM>",
    )
