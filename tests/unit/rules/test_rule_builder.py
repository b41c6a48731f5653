from __future__ import annotations

import pytest

from sdy.dialect.sharding_rule import FactorType
from sdy.passes.propagation.rules.builder import RuleBuilder, identity_rule


def test_a_matrix_product_reads_like_its_definition() -> None:
    rule = (
        RuleBuilder(operand_ranks=[2, 2], result_ranks=[2])
        .factor(operands=[0, None], results=[0], size=8)
        .factor(operands=[None, 1], results=[1], size=16)
        .factor(operands=[1, 0], results=[None], size=4, factor_type=FactorType.REDUCTION)
        .build()
    )
    assert rule.body == "([i, k], [k, j])->([i, j]) {i=8, j=16, k=4} reduction={k}"


def test_factors_of_one_dimension_are_major_first() -> None:
    builder = RuleBuilder([1], [2])
    builder.factor(operands=[0], results=[0], size=2).factor(operands=[0], results=[1], size=4)
    assert builder.build().body == "([ij])->([i, j]) {i=2, j=4}"


def test_a_factor_of_size_one_does_not_join_another() -> None:
    builder = RuleBuilder([1], [2])
    builder.factor(operands=[0], results=[0], size=2).factor(operands=[0], results=[1], size=1)
    assert builder.build().body == "([i])->([i, j]) {i=2, j=1}"


def test_dimensions_without_a_factor_get_one_of_size_one() -> None:
    builder = RuleBuilder([2], [1]).factor(operands=[1], results=[None], size=4)
    assert builder.build().body == "([j, i])->([k]) {i=4, j=1, k=1}"


@pytest.mark.parametrize(("operands", "results"), [([0], [0]), ([0, None], []), ([0], [0, 0])])
def test_a_factor_has_an_entry_for_each_tensor(
    operands: list[int | None], results: list[int | None]
) -> None:
    with pytest.raises(ValueError, match="an entry for each"):
        RuleBuilder([2, 2], [2]).factor(operands=operands, results=results, size=2)


def test_building_twice_gives_the_same_rule() -> None:
    builder = RuleBuilder([2], [1])
    assert builder.build() == builder.build()


def test_a_shared_factor_leaves_scalars_out() -> None:
    builder = RuleBuilder([2, 0], [2]).pointwise([4, 8])
    assert builder.build().body == "([i, j], [])->([i, j]) {i=4, j=8}"


def test_each_type_of_factor_has_its_set() -> None:
    builder = RuleBuilder([4], [4])
    for dimension, factor_type in enumerate(FactorType):
        builder.shared_factor(dimension, 2, factor_type, blocked=dimension > 1)
    assert builder.build().body == (
        "([i, j, k, l])->([i, j, k, l]) {i=2, j=2, k=2, l=2} "
        "reduction={j} need_replication={k} permutation={l} blocked_propagation={k, l}"
    )


def test_a_resized_dimension_has_the_size_of_the_operand() -> None:
    builder = RuleBuilder([2], [2])
    builder.pointwise_or_resized([8, 4], [8, 3], FactorType.PERMUTATION, resized_blocked=True)
    assert builder.build().body == (
        "([i, j])->([i, j]) {i=8, j=4} permutation={j} blocked_propagation={j}"
    )


def test_the_identity_maps_all_tensors_alike() -> None:
    assert identity_rule((2, 3)).body == "([i, j])->([i, j]) {i=2, j=3}"
    assert identity_rule((8,), operand_count=3).body == "([i], [i], [i])->([i]) {i=8}"
    assert identity_rule(()).body == "([])->([])"
