"""What MLIR knows of ops by their kind and does not tell Python: traits and memory effects.

The tables hold for the dialects of tensor programs in jaxlib; an op of another dialect counts
as not elementwise and as having effects. `tests/differential/test_op_trait_tables.py` compares
every entry with the compiled library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jaxlib.mlir import ir

from sdy.ir.op_names import SDY_CONSTANT

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "CONSTANT_LIKE",
    "ELEMENTWISE",
    "ERASABLE",
    "TERMINATORS",
    "erasable_when_unused",
    "is_elementwise",
    "is_elementwise_op",
    "is_terminator",
]


def is_elementwise(name: str) -> bool:
    """Return whether every op of that name is elementwise, in the sense of propagation.

    An element of a result depends on the elements in the same place of the operands alone. The
    ops of sdy that only speak of shardings count too.
    """
    return name in ELEMENTWISE


def is_elementwise_op(op: ir.Operation) -> bool:
    """Return whether an op is elementwise: by its name, or a bitcast that keeps the shape."""
    if op.name == "stablehlo.bitcast_convert":
        return bool(op.operands[0].type.shape == op.results[0].type.shape)
    return op.name in ELEMENTWISE


def is_terminator(name: str) -> bool:
    """Return whether ops of that name end their block."""
    return name in TERMINATORS


def erasable_when_unused(op: ir.Operation) -> bool:
    """Return whether MLIR erases an op as trivially dead once its results have no uses.

    It must be no terminator and have no effects but reading; an op with regions may have the
    effects of the ops in them.
    """
    name = op.name
    return name in ERASABLE or (name not in TERMINATORS and _is_without_effects(op))


def _is_without_effects(root: ir.Operation) -> bool:
    # With a list in place of recursion, as regions may be nested deeper than Python's stack.
    pending = [root]
    while pending:
        op = pending.pop()
        if op.name in _AS_EFFECTFUL_AS_REGIONS:
            pending.extend(_ops_inside(op))
        elif op.name not in ERASABLE and op.name not in _QUIET_TERMINATORS and not _is_quiet(op):
            return False
    return True


def _ops_inside(op: ir.Operation) -> Iterator[ir.Operation]:
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner.operation


def _is_quiet(op: ir.Operation) -> bool:
    """Return whether `op` is a custom call without side effects.

    Where it does not say, StableHLO's has none and MHLO's may have some.
    """
    if op.name == "stablehlo.custom_call":
        return not _side_effect(op, default=False)
    return op.name == "mhlo.custom_call" and not _side_effect(op, default=True)


def _side_effect(op: ir.Operation, *, default: bool) -> bool:
    if "has_side_effect" not in op.attributes:
        return default
    return bool(ir.BoolAttr(op.attributes["has_side_effect"]).value)


def _names(dialect: str, ops: str) -> frozenset[str]:
    return frozenset(f"{dialect}.{op}" for op in ops.split())


ELEMENTWISE: Final = frozenset().union(
    _names(
        "arith",
        "addf addi addui_extended andi bitcast ceildivsi ceildivui cmpf cmpi convertf divf divsi "
        "divui extf extsi extui floordivsi flush_denormals fptosi fptoui index_cast index_castui "
        "maximumf maxnumf maxsi maxui minimumf minnumf minsi minui mulf muli mulsi_extended "
        "mului_extended negf ori remf remsi remui scaling_extf scaling_truncf select shli shrsi "
        "shrui sitofp subf subi subui_extended truncf trunci uitofp xori",
    ),
    _names(
        "chlo",
        "_asin_acos_kernel acos acosh asin asinh atan atanh bessel_i1e broadcast_add "
        "broadcast_and broadcast_atan2 broadcast_compare broadcast_complex broadcast_divide "
        "broadcast_maximum broadcast_minimum broadcast_multiply broadcast_next_after broadcast_or "
        "broadcast_polygamma broadcast_power broadcast_remainder broadcast_select "
        "broadcast_shift_left broadcast_shift_right_arithmetic broadcast_shift_right_logical "
        "broadcast_subtract broadcast_xor broadcast_zeta conj constant_like cosh digamma erf "
        "erf_inv erfc is_inf is_neg_inf is_pos_inf lgamma sinh square tan",
    ),
    _names(
        "complex",
        "abs add angle atan2 conj cos div eq exp expm1 im log log1p mul neg neq pow powi re rsqrt "
        "sign sin sqrt sub tan tanh",
    ),
    _names(
        "math",
        "absf absi acos acosh asin asinh atan atan2 atanh cbrt ceil clampf copysign cos cosh ctlz "
        "ctpop cttz erf erfc exp exp2 expm1 floor fma fpowi ipowi isfinite isinf isnan isnormal "
        "log log10 log1p log2 powf round roundeven rsqrt sin sincos sinh sqrt tan tanh trunc",
    ),
    _names(
        "mhlo",
        "abs acos acosh add and asin asinh atan2 atanh cbrt ceil clamp compare complex convert "
        "copy cosh cosine count_leading_zeros divide erf exponential exponential_minus_one floor "
        "imag is_finite log log_plus_one logistic maximum minimum mulhi multiply negate not or "
        "popcnt power real reduce_precision remainder round_nearest_afz round_nearest_even rsqrt "
        "select shift_left shift_right_arithmetic shift_right_logical sign sine sinh sqrt "
        "stochastic_convert subtract tan tanh uniform_dequantize uniform_quantize xor",
    ),
    _names("sdy", "propagation_barrier reshard sharding_constraint"),
    _names(
        "stablehlo",
        "abs add and atan2 cbrt ceil clamp compare complex convert cosine count_leading_zeros "
        "divide exponential exponential_minus_one floor imag is_finite log log_plus_one logistic "
        "maximum minimum multiply negate not or popcnt power real reduce_precision remainder "
        "round_nearest_afz round_nearest_even rsqrt select shift_left shift_right_arithmetic "
        "shift_right_logical sign sine sqrt subtract tan tanh uniform_dequantize uniform_quantize "
        "xor",
    ),
)
"""Names of elementwise ops. See `is_elementwise`."""

_WITHOUT_PURITY: Final = _names("mhlo", "acos acosh asin asinh atanh cosh sinh") | _names(
    "sdy", "sharding_constraint"
)
"""Elementwise ops of which MLIR does not know that they have no effects."""

ERASABLE: Final = (ELEMENTWISE - _WITHOUT_PURITY).union(
    _names("arith", "constant"),
    _names("builtin", "unrealized_conversion_cast"),
    _names("chlo", "constant mulhi next_after polygamma ragged_dot top_k zeta"),
    _names("complex", "bitcast constant create"),
    _names("func", "constant"),
    _names(
        "mhlo",
        "add_dependency after_all all_to_all batch_norm_grad batch_norm_inference "
        "batch_norm_training bitcast bitcast_convert broadcast broadcast_in_dim cholesky "
        "collective_permute concatenate constant convolution create_token cross-replica-sum "
        "domain dot dot_general dynamic_broadcast_in_dim dynamic_conv dynamic_gather dynamic_iota "
        "dynamic_pad dynamic_reshape dynamic_slice dynamic_update_slice einsum fft gather "
        "get_dimension_size get_tuple_element iota minimum_broadcast_shapes optimization_barrier "
        "pad ragged_dot real_dynamic_slice replica_id reshape reverse rng_bit_generator "
        "set_dimension_size slice torch_index_select transpose triangular_solve tuple",
    ),
    _names("sdy", "constant"),
    _names(
        "shape",
        "add any assuming_all broadcast concat const_shape const_size const_witness dim div "
        "from_extent_tensor from_extents get_extent index_to_size max min mul num_elements rank "
        "shape_eq shape_of size_to_index split_at to_extent_tensor value_as_shape value_of "
        "with_shape",
    ),
    _names(
        "stablehlo",
        "after_all batch_norm_grad batch_norm_inference batch_norm_training bitcast_convert "
        "broadcast broadcast_in_dim cholesky concatenate constant convolution create_token "
        "cross-replica-sum dot dot_general dynamic_broadcast_in_dim dynamic_conv dynamic_gather "
        "dynamic_iota dynamic_pad dynamic_reshape dynamic_slice dynamic_update_slice einsum fft "
        "gather get_dimension_size get_tuple_element iota optimization_barrier pad partition_id "
        "real_dynamic_slice replica_id reshape reverse rng_bit_generator set_dimension_size slice "
        "torch_index_select transpose triangular_solve tuple unary_einsum",
    ),
    _names(
        "tensor",
        "bitcast cast collapse_shape concat dim empty expand_shape extract extract_slice "
        "from_elements gather insert insert_slice pad rank reshape scatter splat",
    ),
    _names("ub", "poison"),
)
"""Names of ops that are erasable when unused, whatever their attributes and regions."""

_AS_EFFECTFUL_AS_REGIONS: Final = frozenset().union(
    _names("chlo", "scan"),
    _names(
        "mhlo",
        "case if map reduce reduce_window scan scatter select_and_scatter sort topk while",
    ),
    _names("scf", "execute_region for forall if index_switch parallel reduce while"),
    _names("sdy", "manual_computation named_computation"),
    _names("shape", "assuming"),
    _names(
        "stablehlo",
        "case if map reduce reduce_window scatter select_and_scatter sort while",
    ),
    _names("tensor", "generate"),
)
"""Names of ops that have the effects of the ops in their regions, and no others."""

_QUIET_TERMINATORS: Final = frozenset().union(
    _names("cf", "br cond_br switch"),
    _names("func", "return"),
    _names("mhlo", "return"),
    _names("scf", "condition forall.in_parallel reduce.return yield"),
    _names("sdy", "return"),
    _names("shape", "assuming_yield return yield"),
    _names("stablehlo", "return"),
    _names("tensor", "yield"),
)
"""Names of terminators without effects."""

TERMINATORS: Final = _QUIET_TERMINATORS.union(
    _names("affine", "yield"),
    _names("gpu", "return terminator yield"),
    _names("llvm", "br cond_br indirectbr invoke resume return switch unreachable"),
    _names("memref", "alloca_scope.return atomic_yield"),
    _names("scf", "reduce"),
    _names("ub", "unreachable"),
    _names("vector", "yield"),
    _names("vhlo", "return_v1"),
)
"""Names of ops that end their block."""

CONSTANT_LIKE: Final = frozenset(
    {
        "arith.constant",
        "chlo.constant",
        "mhlo.constant",
        SDY_CONSTANT,
        "stablehlo.constant",
        "ub.poison",
    }
)
"""Names of the constants among the ops that can make an integer tensor."""
