"""Marks in JAX programs, and shardings of JAX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec

import sdy

if TYPE_CHECKING:
    from collections.abc import Callable

ABSTRACT = AbstractMesh((2, 4), ("data", "model"), (AxisType.Auto,) * 2)
EXPLICIT = AbstractMesh((2, 4), ("data", "model"), (AxisType.Explicit,) * 2)
MESHES = [sdy.Mesh({"data": 2, "model": 4}), ABSTRACT, EXPLICIT]
CONSTRAINT = "sdy.sharding_constraint"


def loss(mesh: Any) -> Callable[[jax.Array, jax.Array], jax.Array]:
    def function(x: jax.Array, w: jax.Array) -> jax.Array:
        hidden = sdy.jax.mark_sharding(jnp.sin(x @ w), mesh, ("data", 1))
        return (hidden**2).sum()

    return function


def lowered(function: Callable[..., Any], *shapes: tuple[int, ...]) -> jax.stages.Lowered:
    arguments = [jax.ShapeDtypeStruct(shape, np.float32) for shape in shapes]
    return jax.jit(function).trace(*arguments).lower(lowering_platforms=("cpu",))


def constraints(module: Any) -> list[str]:
    return [line.strip() for line in str(module).splitlines() if CONSTRAINT in line]


@pytest.mark.parametrize("mesh", MESHES, ids=["ours", "automatic", "explicit"])
def test_the_value_and_its_gradient_are_marked(mesh: Any) -> None:
    forward = lowered(loss(mesh), (8, 8), (8, 16))
    backward = lowered(jax.grad(loss(mesh), argnums=(0, 1)), (8, 8), (8, 16))
    assert len(constraints(sdy.load(forward))) == 1
    found = constraints(sdy.load(backward))
    assert len(found) == 2
    assert all('<@mesh, [{"data"}, {"model"}]> : tensor<8x16xf32>' in line for line in found)


def test_the_marks_survive_propagation() -> None:
    module = sdy.load(lowered(jax.grad(loss(ABSTRACT), argnums=(0, 1)), (8, 8), (8, 16)))
    sdy.propagate(module)
    found = {v.name: v.sharding for v in sdy.shardings(module) if v.function == "main"}
    gradients = [found["@main result 0"], found["@main result 1"]]
    names = [[[str(a) for a in d.axes] for d in g.dimensions] for g in gradients if g is not None]
    assert names == [[['"data"'], []], [[], ['"model"']]]
    marked = [v for v in sdy.shardings(module) if v.type == "tensor<8x16xf32>"]
    split = [v for v in marked if v.local_type == "tensor<4x4xf32>"]
    assert len(split) >= 4


def test_the_dimension_that_vmap_adds_is_open() -> None:
    def one(x: jax.Array) -> jax.Array:
        return (sdy.jax.mark_sharding(jnp.sin(x), ABSTRACT, ("model",)) ** 2).sum()

    module = sdy.load(lowered(jax.vmap(jax.grad(one)), (3, 8)))
    assert [line.partition("<")[2][:26] for line in constraints(module)] == [
        '@mesh, [{?}, {"model"}]> :'
    ] * 2


def test_forward_mode_and_second_derivatives() -> None:
    mesh = sdy.Mesh({"x": 1})

    def function(x: jax.Array) -> jax.Array:
        return sdy.jax.mark_sharding(x**3, mesh, ("x",)).sum()

    x = jnp.arange(4.0)
    _, tangent = jax.jvp(function, (x,), (jnp.ones(4),))
    np.testing.assert_allclose(tangent, (3 * x**2).sum())
    np.testing.assert_allclose(jax.hessian(function)(x), np.diag(6 * x))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (("data",), "1 entries for a tensor of rank 2"),
        (("data", "other"), 'unknown axis name: "other"'),
        (("data", 2), "axis 2 of a mesh with 2 axes"),
        (("data", ("model", "data")), "used twice"),
    ],
)
def test_wrong_specs_are_errors_at_the_call(spec: tuple[Any, ...], message: str) -> None:
    def function(x: jax.Array) -> jax.Array:
        return sdy.jax.mark_sharding(x, ABSTRACT, spec)

    with pytest.raises(sdy.Error, match=message):
        lowered(function, (8, 8))


def test_a_traced_value_is_no_array_to_be_placed() -> None:
    def function(x: jax.Array) -> Any:
        return sdy.mark_sharding(x, sdy.Mesh({"x": 8}), ("x", None))

    with pytest.raises(sdy.Error, match=r"sdy\.jax\.mark_sharding"):
        lowered(function, (8, 8))


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ('<mesh<["x"=8]>, [{"x"}, {}]>', PartitionSpec("x", None)),
        ('<mesh<["x"=2, "y"=4]>, [{?}, {"y", "x", ?}p1]>', PartitionSpec(None, ("y", "x"))),
        ('<mesh<["x"=8]>, [{"x":(1)2}, {"x":(2)4}]>', PartitionSpec("x.0", "x.1")),
        ('<mesh<["x"=8]>, [{"x":(2)2}, {}]>', PartitionSpec("x.1", None)),
        ('<mesh<["x"=2, "y"=4]>, [{"y"}], unreduced={"x"}>', PartitionSpec("y", unreduced={"x"})),
    ],
)
def test_partition_specs_of_shardings(text: str, spec: PartitionSpec) -> None:
    sharding = sdy.parse_sharding(f"sharding{text}")
    assert sdy.jax.to_partition_spec(sharding) == spec
    assert sharding.to_partition_spec() == spec.partitions


def test_a_named_sharding_of_jax_on_an_abstract_mesh() -> None:
    spec = PartitionSpec(("data", "model"), PartitionSpec.UNCONSTRAINED)
    found = sdy.jax.from_named_sharding(NamedSharding(ABSTRACT, spec), rank=3)
    assert str(found) == ('sharding<mesh<["data"=2, "model"=4]>, [{"data", "model"}, {?}, {}]>')
    with pytest.raises(sdy.Error, match="2 entries for a tensor of rank 1"):
        sdy.jax.from_named_sharding(NamedSharding(ABSTRACT, spec), rank=1)


def test_a_named_sharding_of_jax_with_unreduced_axes() -> None:
    named = NamedSharding(EXPLICIT, PartitionSpec("model", unreduced={"data"}))
    found = sdy.jax.from_named_sharding(named)
    assert str(found) == ('sharding<mesh<["data"=2, "model"=4]>, [{"model"}], unreduced={"data"}>')
