from __future__ import annotations

import pytest

import sdy
from sdy.dialect.parser import parse_einsum_rule

Shapes = list[tuple[int, ...]]


def rule_of(text: str, operands: Shapes, results: Shapes, **options: object) -> str:
    rule = parse_einsum_rule(text, **options)  # type: ignore[arg-type]
    resolved = rule.resolve(operands, results)
    resolved.verify(operands, results)
    return resolved.body


def test_a_rule_gets_its_sizes_from_the_shapes() -> None:
    assert rule_of("i j, j k -> i k", [(8, 16), (16, 4)], [(8, 4)], reduction=("j",)) == (
        "([i, j], [j, k])->([i, k]) {i=8, j=16, k=4} reduction={j}"
    )
    assert rule_of("row col -> col row", [(8, 4)], [(4, 8)], blocked_propagation=["row"]) == (
        "([i, j])->([j, i]) {i=8, j=4} blocked_propagation={i}"
    )


def test_scalars_have_no_factors() -> None:
    assert rule_of("i, -> i", [(8,), ()], [(8,)]) == "([i], [])->([i]) {i=8}"
    assert rule_of("-> i", [()], [(8,)]) == "([])->([i]) {i=8}"
    assert rule_of("i ->", [(8,)], [()], reduction=("i",)) == "([i])->([]) {i=8} reduction={i}"


@pytest.mark.parametrize("text", ["... i -> ... i", "...i->...i", "...0 i -> ... i"])
def test_an_ellipsis_stands_for_any_number_of_dimensions(text: str) -> None:
    assert rule_of(text, [(8,)], [(8,)]) == "([i])->([i]) {i=8}"
    assert rule_of(text, [(2, 3, 8)], [(2, 3, 8)]) == "([i, j, k])->([i, j, k]) {i=2, j=3, k=8}"


def test_numbered_ellipses_are_dimensions_of_their_own() -> None:
    assert rule_of("... i, ...1 i -> ...", [(2, 8), (3, 4, 8)], [(2,)]) == (
        "([i, j], [k, l, j])->([i]) {i=2, j=8, k=3, l=4}"
    )


def test_a_dimension_may_have_several_factors() -> None:
    assert rule_of("(h d) s -> h s d", [(12, 5)], [(3, 5, 4)]) == (
        "([ij, k])->([i, k, j]) {i=3, j=4, k=5}"
    )
    assert rule_of("(h d) s -> s", [(12, 5)], [(5,)], h=3, d=4, reduction=("d", "h")) == (
        "([ij, k])->([k]) {i=3, j=4, k=5} reduction={i, j}"
    )


def test_a_factor_of_size_one_is_left_out_beside_others() -> None:
    assert rule_of("(h d) -> h d", [(8,)], [(1, 8)]) == "([i])->([j, i]) {i=8, j=1}"
    assert rule_of("(h d) -> (d h)", [(8,)], [(8,)], h=1, d=8, permutation=("h",)) == (
        "([i])->([i]) {i=8}"
    )


def test_a_factor_of_dimensions_of_several_sizes_has_the_least_and_must_be_given() -> None:
    assert rule_of("i -> i", [(8,)], [(12,)], i=8, permutation=("i",)) == (
        "([i])->([i]) {i=8} permutation={i}"
    )
    with pytest.raises(sdy.VerifyError, match="sizes 8 and 12; if that is meant, give 8"):
        rule_of("i -> i", [(8,)], [(12,)])
    with pytest.raises(sdy.VerifyError, match="'i' has size 12, its dimensions in the op 8 and 12"):
        rule_of("i -> i", [(8,)], [(12,)], i=12)


@pytest.mark.parametrize(
    ("text", "operands", "results", "message"),
    [
        ("i, i -> i", [(8,)], [(8,)], "the number of operands is 2 in the rule, 1 in the op"),
        ("i -> i, i", [(8,)], [(8,)], "the number of results is 2 in the rule, 1 in the op"),
        ("i, i -> i", [(8,), (8, 2)], [(8,)], "operand 1 has rank 1 in the rule, rank 2 in the op"),
        ("i -> ... i j", [(8,)], [(8,)], "result 0 has rank 2 or more in the rule, rank 1 in the"),
        ("... i -> ... i", [(8,)], [(2, 8)], "'...' is 1 dimensions in result 0, 0 in a tensor"),
        ("... i -> ... i", [(2, 8)], [(3, 8)], "factor '...[0]' is dimensions of sizes 2 and 3"),
        (
            "(h d) -> h d",
            [(12,)],
            [(3, 5)],
            "dimension 0 of operand 0 has size 12, the factors of '(h d)' have 15",
        ),
    ],
)
def test_tensors_that_do_not_fit(
    text: str, operands: Shapes, results: Shapes, message: str
) -> None:
    with pytest.raises(sdy.VerifyError) as error:
        rule_of(text, operands, results)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("i j", 4, "expected '->', found end of text"),
        ("i ... -> i", 3, "found '...'"),
        ("(i) -> i", 3, "expected a factor such as i, found ')'"),
        ("(i (j k)) -> i", 4, "found '('"),
        ("i -> 2i", 6, "found '2'"),
        ("i.j -> i", 2, "found '.'"),
    ],
)
def test_text_that_is_no_rule(text: str, column: int, message: str) -> None:
    with pytest.raises(sdy.ParseError) as error:
        parse_einsum_rule(text)
    assert error.value.column == column
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("i i -> i", {}, "factor 'i' stands twice in 'i i'"),
        ("(h d) -> h", {}, "factor 'd' is never a whole dimension, so its size must be given"),
        ("i -> i", {"j": 4}, "factor 'j' has a size and is in no tensor"),
        ("i -> i", {"i": 0}, "factor 'i': expected a size of 1 or more, got 0"),
        ("i -> i", {"permutation": ("j",)}, "factor 'j' has a type and is in no tensor"),
        ("i -> i", {"reduction": ("i",)}, "reduction factor 'i' cannot be in a result"),
        (
            "i -> i",
            {"permutation": ("i",), "need_replication": ("i",)},
            "factor 'i' can have one of the types once",
        ),
        ("i -> i", {"blocked_propagation": ("i", "i")}, "factor 'i' is blocked twice"),
        ("i -> i", {"permutation": "i"}, "permutation: expected a tuple of factors, got 'i'"),
        ("i -> i", {"reduction_factors": ()}, "did you mean reduction?"),
    ],
)
def test_rules_that_cannot_be(text: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(sdy.VerifyError) as error:
        parse_einsum_rule(text, **options)  # type: ignore[arg-type]
    assert message in str(error.value)


@pytest.mark.parametrize("text", ["i j, j k -> i k", "... i, ...1 (a b) -> ...1 i", "-> i, , j"])
def test_rules_print_as_they_parse(text: str) -> None:
    sizes = {"a": 2, "b": 4} if "(" in text else {}
    rule = parse_einsum_rule(text, **sizes)  # type: ignore[arg-type]
    assert parse_einsum_rule(str(rule), **sizes) == rule  # type: ignore[arg-type]
