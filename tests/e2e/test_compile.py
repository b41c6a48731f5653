"""What `compile` takes and refuses, and what an executable says of itself."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import jax
import numpy as np
import pytest
from jax.sharding import PartitionSpec as P
from jaxlib.mlir import ir

from sdy.compile import build
from sdy.compile.compiler import compile as compile_program
from sdy.compile.executable import Executable
from sdy.compile.targets import backend_for
from sdy.dialect.errors import Error
from sdy.ir.context import make_context
from sdy.ir.load import load
from tests.corpus.jax_programs import PROGRAMS
from tests.e2e.partitioned import Argument, lower

if TYPE_CHECKING:
    from sdy.compile.backend import Client, Loaded

MATMUL = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(
    %arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %arg1: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
      : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
"""


def identity(sharding: str, mesh: str = '<["x"=2, "y"=4]>', type_: str = "tensor<8x8xf32>") -> str:
    attribute = f"{{sdy.sharding = #sdy.sharding<@mesh, {sharding}>}}"
    return f"""
sdy.mesh @mesh = {mesh}
func.func @main(%arg0: {type_} {attribute}) -> ({type_} {attribute}) {{
  return %arg0 : {type_}
}}
"""


@pytest.fixture(scope="module")
def matmul() -> Executable:
    return compile_program(MATMUL, "cpu:8")


@pytest.fixture
def arrays() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    return random.normal(size=(8, 16)).astype("f4"), random.normal(size=(16, 4)).astype("f4")


def test_an_executable_says_how_it_runs(matmul: Executable) -> None:
    assert matmul.num_devices == 8
    assert list(map(str, matmul.argument_shardings)) == [
        "{devices=[2,4]<=[8]}",
        "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}",
    ]
    assert list(map(str, matmul.result_shardings)) == [
        "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"
    ]
    [all_reduce] = matmul.collectives()
    assert all_reduce.kind == "all-reduce"
    assert all_reduce.shape == "f32[4,4]"
    assert all_reduce.groups == ((0, 1, 2, 3), (4, 5, 6, 7))
    assert all_reduce.bytes == 64
    assert "num_partitions=8" in matmul.hlo_text()


def test_results_lie_where_their_sharding_says(
    matmul: Executable, arrays: tuple[np.ndarray, np.ndarray]
) -> None:
    [result] = matmul(*arrays)
    np.testing.assert_allclose(result, arrays[0] @ arrays[1], rtol=1e-5, atol=1e-5)
    rows = {shard.device.id: shard.index[0] for shard in result.addressable_shards}
    assert rows == {device: slice(0, 4) if device < 4 else slice(4, 8) for device in range(8)}


def test_results_can_be_arguments_again(arrays: tuple[np.ndarray, np.ndarray]) -> None:
    halves = compile_program(identity('[{"x"}, {"y"}]'), "cpu:8")
    [once] = halves(arrays[0][:, :8])
    [twice] = halves(once)
    np.testing.assert_array_equal(twice, arrays[0][:, :8])


def test_the_users_jax_keeps_its_devices(matmul: Executable) -> None:
    assert matmul.devices[0] not in jax.devices()


def test_the_program_stays_as_it_is() -> None:
    module = load(MATMUL)
    before = str(module)
    compile_program(module, "cpu:8")
    assert str(module) == before


@pytest.mark.parametrize(
    "name", ["branches", "constraints_in_chains", "decoding_with_cache", "shard_map_full"]
)
def test_xla_gets_shardings_of_its_own_and_no_shardy(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    class Spy:
        def __getattr__(self, name: str) -> Any:
            return getattr(real.client, name)

        def compile_and_load(self, module: bytes, devices: Any, options: Any) -> Loaded:
            chosen = options.executable_build_options
            assert chosen.use_spmd_partitioning
            assert not chosen.use_shardy_partitioner
            assert chosen.num_partitions == 8
            with make_context() as context:
                seen.append(str(ir.Module.parse(module, context)))
            return real.client.compile_and_load(module, devices, options)

    real = backend_for("cpu:8")
    spied = replace(real, client=cast("Client", Spy()))
    monkeypatch.setattr(build, "backend_for", lambda _: spied)
    compile_program(PROGRAMS[name]())
    [text] = seen
    assert "mhlo.sharding" in text
    # A function that was a manual computation has a name with `sdy` in it.
    assert not re.search(r"#sdy|= sdy\.|[{ ]sdy\.", text)
    unsharded = re.findall(r"= stablehlo\.(\w+) .*", re.sub(r".*mhlo.sharding.*", "", text))
    assert set(unsharded) <= {"partition_id"}


@pytest.mark.parametrize(
    ("sharding", "shape"),
    [
        ('[{"x"}, {"y"}]', (5, 7)),
        ('[{"y", "x"}, {}]', (3, 2)),
        ('[{"y":(2)2}, {"x"}]', (4, 4)),
        ("[{}, {}]", (2, 2)),
        ("[]", ()),
    ],
)
def test_arrays_come_back_as_they_went_in(sharding: str, shape: tuple[int, ...]) -> None:
    type_ = f"tensor<{''.join(f'{size}x' for size in shape)}f32>"
    program = compile_program(identity(sharding, type_=type_), "cpu:8")
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    [result] = program(array)
    np.testing.assert_array_equal(result, array)


@pytest.mark.parametrize("dtype", ["i1", "i8", "ui32", "i64", "bf16", "f16", "f64", "complex<f32>"])
def test_element_types_are_kept(dtype: str) -> None:
    program = compile_program(identity('[{"x"}, {"y"}]', type_=f"tensor<2x4x{dtype}>"), "cpu:8")
    [argument] = program.signature.arguments
    array = np.arange(8).reshape(2, 4).astype(argument.dtype)
    [result] = program(array)
    assert result.dtype == argument.dtype
    np.testing.assert_array_equal(np.asarray(result), array)


def test_a_mesh_in_another_order_puts_parts_on_other_devices() -> None:
    mesh = '<["x"=4], device_ids=[3, 1, 2, 0]>'
    program = compile_program(identity('[{"x"}, {}]', mesh=mesh), "cpu:4")
    [result] = program(np.arange(64, dtype=np.float32).reshape(8, 8))
    first_rows = {shard.device.id: shard.data[0, 0] // 8 for shard in result.addressable_shards}
    assert first_rows == {3: 0, 1: 2, 2: 4, 0: 6}


def test_what_jax_lowered_is_propagated_first() -> None:
    def matmul(_: object, x: jax.Array, w: jax.Array) -> jax.Array:
        return x @ w

    lowered = lower(matmul, Argument((8, 16), P("data", None)), Argument((16, 4), P(None, "model")))
    assert compile_program(lowered, "cpu:8").result_shardings[0].data_dims == (2, 2)


def test_gspmd_may_decide_what_is_not_known() -> None:
    marked = MATMUL.replace('{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}', "")
    [kind] = {c.kind for c in compile_program(marked, "cpu:8", complete=False).collectives()}
    assert kind == "all-reduce"


@pytest.mark.parametrize(
    ("program", "target", "message"),
    [
        (MATMUL, "cpu:4", r"argument 0 has sharding .* over 8 devices: the target has 4"),
        (MATMUL, "tpu", "unknown target 'tpu': expected 'cpu:N'"),
        (MATMUL.replace("@main", "@other"), "cpu:8", "no function 'main'"),
        ("func.func @main(%a: tensor<?xf32>) { return }", "cpu:8", "its shape must be static"),
        (identity('[{"x"}, {}], unreduced={"y"}'), "cpu:8", "its devices do not hold parts"),
        (identity("[]", mesh="<[], device_ids=[9]>"), "cpu:8", "is on device 9 of 8"),
        (
            MATMUL.replace('[<@mesh, [{"x"}, {}]>]', '[<@mesh, [{"x"}, {}], unreduced={"y"}>]'),
            "cpu:8",
            "XLA cannot partition an op whose result is unreduced",
        ),
    ],
)
def test_what_cannot_be_compiled_is_refused(program: str, target: str, message: str) -> None:
    with pytest.raises(Error, match=message):
        compile_program(program, target)


def test_wrong_arguments_are_refused(
    matmul: Executable, arrays: tuple[np.ndarray, np.ndarray]
) -> None:
    with pytest.raises(Error, match="takes 2 arguments, got 1"):
        matmul(arrays[0])
    with pytest.raises(Error, match=r"argument 1 is float32\[8,16\], expected float32\[16,4\]"):
        matmul(arrays[0], arrays[0])
    with pytest.raises(Error, match=r"argument 0 is float64\[8,16\], expected float32"):
        matmul(arrays[0].astype(np.float64), arrays[1])


@pytest.mark.parametrize(
    ("type_", "value", "message"),
    [
        ("i32", [1.7, 1], r"argument 0 is float64\[2\], expected int32\[2\]"),
        ("i8", [300, 1], r"integers that are out of range, expected int8\[2\]"),
        ("ui8", [-1, 1], r"integers that are out of range, expected uint8\[2\]"),
        ("i64", [1, 2**63], "argument 0 .*, expected int64"),
        ("i1", [2, 1], r"argument 0 is int64\[2\], expected bool\[2\]"),
        ("f32", [1j, 1], r"argument 0 is complex128\[2\], expected float32\[2\]"),
        ("f32", [[1], [1, 2]], r"argument 0 cannot be read as an array: .*float32\[2\]"),
        ("f32", ["a", "b"], r"argument 0 is list of str_?; expected an array float32\[2\]"),
        ("f32", "a", "argument 0 is str; expected an array float32"),
        ("f32", None, "argument 0 is NoneType; expected an array float32"),
    ],
)
def test_numbers_that_the_element_type_cannot_hold(type_: str, value: Any, message: str) -> None:
    program = compile_program(identity("[{}]", type_=f"tensor<2x{type_}>"), "cpu:8")
    with pytest.raises(Error, match=message):
        program(value)


@pytest.mark.parametrize(
    ("type_", "value"),
    [("f32", [1, 2.5]), ("bf16", [1, True]), ("i8", [-128, 127]), ("ui64", [2**64 - 1, 0])],
)
def test_numbers_of_python_are_of_the_element_type(type_: str, value: list[Any]) -> None:
    program = compile_program(identity("[{}]", type_=f"tensor<2x{type_}>"), "cpu:8")
    [result] = program(value)
    assert np.asarray(result).tolist() == value


def test_all_but_modules_are_propagated_unless_told_otherwise() -> None:
    text = MATMUL.replace('{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}', "")
    text = text.replace('{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}', "{}")
    whole, split = [(1, 1)], [(2, 1)]
    for program, propagate, dims in (
        (text, None, split),
        (text, False, whole),
        (load(text), None, whole),
        (load(text), True, split),
    ):
        compiled = compile_program(program, "cpu:8", propagate=propagate)
        assert [list(s.data_dims) or [1, 1] for s in compiled.result_shardings] == [
            list(each) for each in dims
        ]


def test_a_target_is_text_or_devices() -> None:
    nothing: Any = None
    with pytest.raises(TypeError, match="target: expected a str such as 'cpu:8'"):
        compile_program(MATMUL, nothing)


def test_bytecode_is_a_program_too() -> None:
    buffer = io.BytesIO()
    load(MATMUL).operation.write_bytecode(buffer)
    assert compile_program(buffer.getvalue()).num_devices == 8
