"""The invariants of op sharding rules, one function each, in Shardy's wording.

Every function returns nothing and raises VerifyError where its invariant is broken.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from sdy.dialect.errors import VerifyError
from sdy.dialect.names import factor_symbol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sdy.dialect.sharding_rule import OpShardingRule, TensorMapping
    from sdy.dialect.verifier import Shape

__all__ = ["verify_rule"]


def verify_rule(
    rule: OpShardingRule,
    operand_shapes: Sequence[Shape] | None = None,
    result_shapes: Sequence[Shape] | None = None,
) -> None:
    """Check all that must hold for `rule`, of an op with tensors of these shapes if given."""
    _verify_mappings(rule.operands, operand_shapes, rule.factor_sizes, "operand")
    _verify_mappings(rule.results, result_shapes, rule.factor_sizes, "result")
    _verify_factors_are_used(rule)
    for factors in (rule.reduction, rule.need_replication, rule.permutation):
        _verify_factor_set(factors, rule.factor_count)
    _verify_one_type_per_factor(rule)
    _verify_factor_set(rule.blocked_propagation, rule.factor_count)
    _verify_reduction_is_not_in_results(rule)


def _verify_mappings(
    mappings: Sequence[TensorMapping],
    shapes: Sequence[Shape] | None,
    factor_sizes: Sequence[int],
    kind: str,
) -> None:
    """Check the mappings of all operands, or of all results."""
    if shapes is not None and len(shapes) != len(mappings):
        raise VerifyError(
            f"number of {kind}s and mappings must match: {len(shapes)} != {len(mappings)}"
        )
    if not mappings:
        raise VerifyError(
            f"number of {kind}s mappings cannot be 0. Op sharding rules can only be defined on "
            "operations with at least one operand and result."
        )
    for index, mapping in enumerate(mappings):
        place = f"{kind} - " if len(mappings) == 1 else f"{kind} {index} - "
        if shapes is not None:
            _verify_shape(mapping, shapes[index], place)
        _verify_mapping(mapping, factor_sizes, place)


def _verify_shape(mapping: TensorMapping, shape: Shape, place: str) -> None:
    """Check that the tensor is static and has one dimension per dimension of the mapping."""
    if None in shape:
        text = "x".join("?" if size is None else str(size) for size in shape)
        raise VerifyError(
            f"{place}expected a ranked tensor with a static shape. type: tensor<{text}>"
        )
    if mapping.rank != len(shape):
        raise VerifyError(f"{place}mapping rank must match: {mapping.rank} != {len(shape)}")


def _verify_mapping(mapping: TensorMapping, factor_sizes: Sequence[int], place: str) -> None:
    """Check that the factors of a tensor exist, and that it has each once."""
    seen: set[int] = set()
    for dimension in mapping.dimensions:
        if not dimension.factors:
            raise VerifyError(f"{place}dim mapping must have at least one factor")
        for factor in dimension.factors:
            if not 0 <= factor < len(factor_sizes):
                raise VerifyError(
                    f"{place}expecting factor indices to be within 0<=...<num_factors; "
                    f"received: {factor}, num_factors: {len(factor_sizes)}"
                )
            if factor in seen:
                raise VerifyError(f"{place}cannot reuse factors for the same tensor value")
            seen.add(factor)
            if factor_sizes[factor] == 1 and len(dimension.factors) > 1:
                raise VerifyError(
                    f"{place}dim mapping can't have a factor of size 1 if there are multiple "
                    "factors"
                )


def _verify_factors_are_used(rule: OpShardingRule) -> None:
    used = {f for tensor in rule.tensors for d in tensor.dimensions for f in d.factors}
    for factor, size in enumerate(rule.factor_sizes):
        if factor not in used:
            raise VerifyError(
                f"has factor {factor_symbol(factor)}={size} that isn't used in operand and "
                "result mappings"
            )


def _verify_factor_set(factors: Sequence[int], factor_count: int) -> None:
    """Check that the factors of one kind are in order, named once, and exist."""
    if any(second < first for first, second in pairwise(factors)):
        raise VerifyError("indices of special factors must be sorted")
    if any(first == second for first, second in pairwise(factors)):
        raise VerifyError("indices of special factors must be unique")
    if not factors:
        return
    if factors[0] < 0:
        raise VerifyError("index must be non-negative")
    if factors[-1] >= factor_count:
        raise VerifyError(f"index must be less than {factor_count}, got: {factors[-1]}")


def _verify_one_type_per_factor(rule: OpShardingRule) -> None:
    special = (*rule.reduction, *rule.need_replication, *rule.permutation)
    if len(set(special)) != len(special):
        raise VerifyError(
            "a factor can only be in one of the reduction, need replication, or permutation "
            "factor sets"
        )


def _verify_reduction_is_not_in_results(rule: OpShardingRule) -> None:
    for factor in rule.reduction:
        if any(result.contains_factor(factor) for result in rule.results):
            raise VerifyError("reduction factor cannot be in result mappings")
