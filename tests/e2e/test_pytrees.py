"""What JAX lowered is called as the function is, and returns what it returns."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from sdy.compile.compiler import compile as compile_program
from sdy.compile.executable import Executable
from sdy.dialect.errors import Error
from tests.e2e.partitioned import MESH


def step(state: dict[str, Any], _: jax.Array, *, batch: jax.Array) -> dict[str, Any]:
    product = batch @ state["w"]
    return {"state": {"w": state["w"] * 2}, "outputs": (product, None)}


def typed(shape: tuple[int, ...], spec: P | None = None) -> jax.ShapeDtypeStruct:
    sharding = None if spec is None else NamedSharding(MESH, spec)
    return jax.ShapeDtypeStruct(shape, np.float32, sharding=sharding)


@pytest.fixture(scope="module")
def executable() -> Executable:
    lowered = (
        jax.jit(step)
        .trace(
            {"w": typed((16, 4), P(None, "model"))}, typed((3,)), batch=typed((8, 16), P("data"))
        )
        .lower(lowering_platforms=("cpu",))
    )
    return compile_program(lowered, "cpu:8")


def test_arguments_and_results_are_the_functions_own(executable: Executable) -> None:
    random = np.random.default_rng(0)
    weights = random.normal(size=(16, 4)).astype("f4")
    batch = random.normal(size=(8, 16)).astype("f4")
    returned = executable({"w": weights}, np.zeros(3, np.float32), batch=batch)
    product, nothing = returned["outputs"]
    assert nothing is None
    np.testing.assert_allclose(product, batch @ weights, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(returned["state"]["w"], 2 * weights)


def test_results_lie_on_the_functions_own_mesh(executable: Executable) -> None:
    returned = executable(
        {"w": np.ones((16, 4), np.float32)},
        np.zeros(3, np.float32),
        batch=np.ones((8, 16), np.float32),
    )
    sharding = returned["outputs"][0].sharding
    assert sharding.spec == P("data", "model")
    assert sharding.mesh.axis_names == MESH.axis_names
    assert sharding.mesh.devices.flatten().tolist() == list(executable.devices)


def test_an_argument_that_is_not_used_is_none_of_the_program(executable: Executable) -> None:
    assert len(executable.signature.arguments) == 2


def test_other_trees_are_refused(executable: Executable) -> None:
    array = np.ones((16, 4), np.float32)
    with pytest.raises(Error, match=r"form the tree PyTreeDef\(.*\), expected PyTreeDef\("):
        executable({"v": array}, array, batch=array)
    with pytest.raises(Error, match="form the tree"):
        executable({"w": array}, array, array)


def test_a_module_has_no_names_for_arguments() -> None:
    program = compile_program(
        "func.func @main(%a: tensor<f32>) -> tensor<f32> { return %a : tensor<f32> }", "cpu:2"
    )
    with pytest.raises(Error, match="the program's arguments have no names, got 'a'"):
        program(a=1.0)
