"""Each invariant of shardings, lists of them, manual axes and rules, broken once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from sdy.dialect.axes import AxisRef
from sdy.dialect.errors import VerifyError
from sdy.dialect.mesh import Mesh
from sdy.dialect.parser import parse_rule, parse_sharding
from sdy.dialect.sharding import (
    DimensionSharding,
    ManualAxes,
    TensorSharding,
    TensorShardingPerValue,
)
from sdy.dialect.sharding_rule import DimMapping, OpShardingRule, TensorMapping
from sdy.dialect.verifier import (
    verify_divisibility,
    verify_manual_axes_first,
    verify_manual_divisibility,
    verify_not_manual,
    verify_sharding,
    verify_sharding_of_non_tensor,
)
from tests.unit.dialect.strategies import rules, shardings

if TYPE_CHECKING:
    from collections.abc import Sequence

MESH = Mesh({"a": 16, "b": 4, "c": 2}, name="m")
MAXIMAL = Mesh.maximal(0, "max")
MANUAL = ManualAxes(("a",))


def parsed(body: str, mesh: Mesh = MESH) -> TensorSharding:
    return parse_sharding(f"<@{mesh.name}, {body}>", mesh)


@given(shardings())
def test_valid_shardings_pass(sharding: TensorSharding) -> None:
    sharding.verify(shape=[None] * sharding.rank)


@given(rules())
def test_valid_rules_pass(rule: OpShardingRule) -> None:
    shapes = [[2] * tensor.rank for tensor in rule.tensors]
    rule.verify(shapes[: len(rule.operands)], shapes[len(rule.operands) :])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('[{"q"}]', 'unknown axis name: "q"'),
        ('[], replicated={"q"}', 'unknown axis name: "q"'),
        ('[], unreduced={"q":(1)2}', 'unknown axis name: "q"'),
        ('[{"a"}, {"a"}]', 'duplicate axis ref: "a"'),
        ('[{"a", "a"}]', 'duplicate axis ref: "a"'),
        ('[{"a":(2)2}], replicated={"a":(2)2}', 'duplicate axis ref: "a":(2)2'),
        ('[{"a"}], unreduced={"a"}', 'duplicate axis ref: "a"'),
        ('[], replicated={"a"}, unreduced={"a"}', 'duplicate axis ref: "a"'),
        ('[], replicated={"b", "a"}', "replicated axes are not ordered w.r.t. mesh"),
        ('[], unreduced={"b", "a"}', "unreduced axes are not ordered w.r.t. mesh"),
        ('[], replicated={"a":(4)2, "a":(1)2}', "replicated axes are not ordered w.r.t. mesh"),
        ("[{}p0]", "dim 0 is empty and closed but has a priority"),
        ('[{"a"}, {}p1]', "dim 1 is empty and closed but has a priority"),
        ('[{"a"}, {"a":(1)2}]', 'both sub-axis and full-axis are used for axis name: "a"'),
        ('[{"a":(1)2, "a":(2)4}]', 'two consecutive sub-axes can be merged: "a":(1)2, "a":(2)4'),
        (
            '[], replicated={"a":(1)2, "a":(2)4}',
            'two consecutive sub-axes can be merged: "a":(1)2, "a":(2)4',
        ),
        ('[{"a":(0)2}]', 'sub-axis pre-size must be at least 1: "a":(0)2'),
        ('[{"a":(-1)2}]', 'sub-axis pre-size must be at least 1: "a":(-1)2'),
        ('[{"a":(2)1}]', 'sub-axis sizes must be greater than 1: "a":(2)1'),
        (
            '[{"a":(3)2}]',
            'sub-axis next pre-size 6 doesn\'t divide the size of the full axis 16: "a":(3)2',
        ),
        (
            '[{"a":(8)4}]',
            'sub-axis next pre-size 32 doesn\'t divide the size of the full axis 16: "a":(8)4',
        ),
        ('[{"a":(1)16}]', 'sub-axis size is equal to the full axis size: "a":(1)16'),
        ('[{"a":(1)4}, {"a":(2)4}]', 'overlapping sub-axes: "a":(1)4, "a":(2)4'),
        ('[{"a":(2)4}], replicated={"a":(1)4}', 'overlapping sub-axes: "a":(1)4, "a":(2)4'),
    ],
)
def test_what_a_sharding_may_not_be(body: str, message: str) -> None:
    with pytest.raises(VerifyError) as caught:
        parsed(body)
    assert str(caught.value) == message


def test_consecutive_sub_axes_are_fine_apart_or_in_reverse() -> None:
    for body in (
        '[{"a":(2)2, "a":(1)2}]',
        '[{"a":(1)2, "b", "a":(2)2}]',
        '[{"a":(1)2}, {"a":(2)8}]',
    ):
        parsed(body)


def test_a_negative_priority() -> None:
    sharding = TensorSharding(MESH, (DimensionSharding((AxisRef("a"),), priority=-1),))
    with pytest.raises(VerifyError, match=r"^dim 0 has a negative priority$"):
        sharding.verify()


def test_a_maximal_sharding_says_nothing_more() -> None:
    parsed("[]", MAXIMAL).verify(shape=(4, 8))
    for body in ("[{}]", '[], replicated={"a"}', '[], unreduced={"a"}'):
        with pytest.raises(
            VerifyError, match=r"^a maximal sharding can only have a sharding with rank 0"
        ):
            parsed(body, MAXIMAL)


def test_another_mesh_and_the_shape() -> None:
    sharding = parsed('[{"a"}]')
    sharding.verify(Mesh({"a": 2}), (3,))
    with pytest.raises(VerifyError, match=r'unknown axis name: "a"'):
        sharding.verify(Mesh({"b": 2}))
    with pytest.raises(VerifyError, match=r"^sharding doesn't match tensor rank: 1 != 2$"):
        verify_sharding(sharding, MESH, (4, None))


def test_values_without_a_shape() -> None:
    verify_sharding_of_non_tensor(parsed("[]"), "!stablehlo.token")
    with pytest.raises(
        VerifyError, match=r"type: !stablehlo.token, sharding: #sdy.sharding<@m, \[\{\}\]>"
    ):
        verify_sharding_of_non_tensor(parsed("[{}]"), "!stablehlo.token")


def test_divisibility_is_asked_for_apart() -> None:
    sharding = parsed('[{"c"}, {"b"}]')
    verify_divisibility(sharding, MESH, (4, None))
    with pytest.raises(
        VerifyError, match=r"^dim 1 with size 6 is not divisible by its sharded size 4$"
    ):
        verify_divisibility(sharding, MESH, (4, 6))


@pytest.mark.parametrize(
    ("bodies", "shapes", "message"),
    [
        (
            ["[{}]", "[{}]"],
            [(4,)],
            "shardings don't match number of values: 2 shardings vs 1 values",
        ),
        (['[{"a"}]'], [], "shardings don't match number of values: 1 shardings vs 0 values"),
        (["[{}]"], [(4, 4)], "- sharding doesn't match tensor rank: 1 != 2"),
        (["[{}]", "[]"], [(4,), (4,)], "1 - sharding doesn't match tensor rank: 0 != 1"),
        (["[{}]"], [], "0 - a maximal sharding can only have a sharding with rank 0"),
    ],
)
def test_what_a_list_of_shardings_may_not_be(
    bodies: list[str], shapes: Sequence[tuple[int, ...]], message: str
) -> None:
    per_value = TensorShardingPerValue(tuple(map(parsed, bodies)))
    with pytest.raises(VerifyError) as caught:
        per_value.verify(shapes)
    assert str(caught.value).startswith(message)


def test_an_op_without_results_may_have_one_sharding_that_splits_nothing() -> None:
    TensorShardingPerValue((parsed("[]", MAXIMAL),)).verify([])
    TensorShardingPerValue((parsed("[]"),)).verify([])
    TensorShardingPerValue(()).verify([])


def test_manual_axes() -> None:
    MANUAL.verify(MESH)
    verify_manual_axes_first(parsed('[{"a", "b"}, {"c"}]'), MANUAL)
    with pytest.raises(VerifyError, match=r'index 0. Saw manual axis "a" after free axis "b"$'):
        verify_manual_axes_first(parsed('[{"b", "a"}]'), MANUAL)
    verify_manual_divisibility(parsed('[{"a", "b"}, {"c"}]'), MANUAL, MESH, (16, 3))
    with pytest.raises(
        VerifyError, match=r"^dimension size 24 is not divisible by the manual axes size 16$"
    ):
        verify_manual_divisibility(parsed('[{"a"}]'), MANUAL, MESH, (24,))
    verify_not_manual(parsed('[{"b"}]').axes(), MANUAL)
    with pytest.raises(
        VerifyError, match=r'^operates on axis "a" which is already bound by a parent'
    ):
        verify_not_manual(parsed('[{"a":(1)2}]').axes(), MANUAL)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "([i])->([j]) {i=2}",
            "result - expecting factor indices to be within 0<=...<num_factors; received: 1, "
            "num_factors: 1",
        ),
        ("([i], [ii])->([i]) {i=2}", "operand 1 - cannot reuse factors for the same tensor value"),
        ("([i, i])->([i]) {i=2}", "operand - cannot reuse factors for the same tensor value"),
        (
            "([ij])->([i]) {i=2, j=1}",
            "operand - dim mapping can't have a factor of size 1 if there are multiple factors",
        ),
        (
            "([i])->([i]) {i=2, j=3}",
            "has factor j=3 that isn't used in operand and result mappings",
        ),
        (
            "([i, j])->([i, j]) {i=2, j=3} need_replication={j, i}",
            "indices of special factors must be sorted",
        ),
        (
            "([i, j])->([i, j]) {i=2, j=3} permutation={j, j}",
            "indices of special factors must be unique",
        ),
        ("([i])->([i]) {i=2} blocked_propagation={k}", "index must be less than 1, got: 2"),
        (
            "([i, j])->([i]) {i=2, j=3} reduction={j} permutation={j}",
            "a factor can only be in one of the reduction, need replication, or permutation "
            "factor sets",
        ),
        ("([i])->([i]) {i=2} reduction={i}", "reduction factor cannot be in result mappings"),
    ],
)
def test_what_a_rule_may_not_be(text: str, message: str) -> None:
    with pytest.raises(VerifyError) as caught:
        parse_rule(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("operands", "results", "message"),
    [
        ([(2, 3)], [(2, 3)], "number of operands and mappings must match: 1 != 2"),
        ([(2, 3), (2,)], [], "number of results and mappings must match: 0 != 1"),
        ([(2, 3), (2, 3)], [(2, 3)], "operand 1 - mapping rank must match: 1 != 2"),
        ([(2, 3), (2,)], [(2,)], "result - mapping rank must match: 2 != 1"),
        (
            [(2, None), (2,)],
            [(2, 3)],
            "operand 0 - expected a ranked tensor with a static shape. type: tensor<2x?>",
        ),
    ],
)
def test_a_rule_and_the_shapes_of_its_op(
    operands: Sequence[Sequence[int | None]],
    results: Sequence[Sequence[int | None]],
    message: str,
) -> None:
    rule = parse_rule("([i, j], [i])->([i, j]) {i=2, j=3}")
    rule.verify([(2, 3), (2,)], [(2, 3)])
    with pytest.raises(VerifyError) as caught:
        rule.verify(operands, results)
    assert str(caught.value) == message


def test_rules_that_only_python_can_make() -> None:
    scalar, unmapped = TensorMapping(()), TensorMapping((DimMapping(()),))
    with pytest.raises(VerifyError, match=r"number of operands mappings cannot be 0"):
        OpShardingRule((), (), (scalar,)).verify()
    with pytest.raises(VerifyError, match=r"dim mapping must have at least one factor"):
        OpShardingRule((), (unmapped,), (scalar,)).verify()
    with pytest.raises(VerifyError, match=r"index must be non-negative"):
        OpShardingRule((), (scalar,), (scalar,), reduction=(-1,)).verify()
