"""Rules as text mean what they mean in JAX's `custom_partitioning`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st
from jax._src.custom_partitioning_sharding_rule import (
    sdy_sharding_rule_to_mlir,
    str_to_sdy_sharding_rule,
)
from jaxlib.mlir import ir

from sdy.dialect.parser import parse_einsum_rule
from sdy.dialect.sharding_rule import OpShardingRule
from sdy.ir.attributes import read_rule
from sdy.ir.context import make_context

SIZES = {"a": 2, "b": 3, "c_1": 4, "Dd": 5, "e": 6, "n": 1}
ELLIPSES = {"": (7, 8), "1": (9,), "2": ()}


@dataclass(frozen=True, slots=True)
class Case:
    """A rule, and the shapes of an op that it fits."""

    text: str
    operands: tuple[tuple[int, ...], ...]
    results: tuple[tuple[int, ...], ...]
    types: dict[str, tuple[str, ...]]
    sizes: dict[str, int]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    sides = [[draw(tensors()) for _ in range(draw(st.integers(1, 3)))] for _ in range(2)]
    dimensions = [d for side in sides for _, tensor in side for d in tensor]
    in_results = {factor for _, tensor in sides[1] for d in tensor for factor in d}
    used = {factor for d in dimensions for factor in d}
    whole = {d[0] for d in dimensions if len(d) == 1}
    kinds = {
        factor: draw(st.sampled_from(["", "need_replication", "permutation", "reduction"]))
        for factor in sorted(used)
    }
    types = {
        kind: tuple(
            factor
            for factor, its in kinds.items()
            if its == kind and not (kind == "reduction" and factor in in_results)
        )
        for kind in ("reduction", "need_replication", "permutation")
    }
    return Case(
        " -> ".join(", ".join(map(text_of, side)) for side in sides),
        tuple(map(shape_of, sides[0])),
        tuple(map(shape_of, sides[1])),
        types,
        {factor: SIZES[factor] for factor in sorted(used - whole)},
    )


Tensor = tuple[str | None, list[list[str]]]


@st.composite
def tensors(draw: st.DrawFn) -> Tensor:
    factors = draw(st.lists(st.sampled_from(sorted(SIZES)), unique=True, max_size=5))
    dimensions: list[list[str]] = []
    for factor in factors:
        joins = dimensions and factor != "n" and dimensions[-1] != ["n"]
        if joins and draw(st.booleans()):
            dimensions[-1].append(factor)
        else:
            dimensions.append([factor])
    return draw(st.sampled_from([None, *ELLIPSES])), dimensions


def text_of(tensor: Tensor) -> str:
    ellipsis, dimensions = tensor
    words = [d[0] if len(d) == 1 else f"({' '.join(d)})" for d in dimensions]
    return " ".join(words if ellipsis is None else [f"...{ellipsis}", *words])


def shape_of(tensor: Tensor) -> tuple[int, ...]:
    ellipsis, dimensions = tensor
    batch = () if ellipsis is None else ELLIPSES[ellipsis]
    return (*batch, *(math.prod(SIZES[factor] for factor in d) for d in dimensions))


def rule_of_jax(case: Case) -> OpShardingRule:
    types = {f"{kind}_factors": factors for kind, factors in case.types.items()}
    rule = str_to_sdy_sharding_rule(case.text, **types, **case.sizes)
    with make_context(), ir.Location.unknown():
        tensor_types = [
            [ir.RankedTensorType.get(shape, ir.F32Type.get()) for shape in shapes]
            for shapes in (case.operands, case.results)
        ]
        attribute: ir.Attribute = sdy_sharding_rule_to_mlir(rule, *tensor_types)
        return read_rule(attribute)


@settings(max_examples=300)
@given(cases())
def test_text_gives_the_rule_that_jax_makes_of_it(case: Case) -> None:
    rule = parse_einsum_rule(case.text, **case.types, **case.sizes)  # type: ignore[arg-type]
    ours, theirs = rule.resolve(case.operands, case.results), rule_of_jax(case)
    assert ours.operands == theirs.operands
    assert ours.results == theirs.results
    assert ours.factor_sizes == theirs.factor_sizes
    for kind in ("reduction", "need_replication", "permutation"):
        assert set(getattr(ours, kind)) == set(getattr(theirs, kind))
