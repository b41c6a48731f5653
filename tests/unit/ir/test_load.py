"""Programs in, from whatever they come in."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import pytest
from jaxlib.mlir.dialects import stablehlo

from sdy.dialect.errors import Error
from sdy.ir.context import make_context
from sdy.ir.diagnostics import DiagnosticError
from sdy.ir.load import load

if TYPE_CHECKING:
    from pathlib import Path

    from jaxlib.mlir import ir

TEXT = """\
sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def bytecode(module: ir.Module) -> bytes:
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def test_text() -> None:
    module = load(TEXT)
    assert [op.operation.name for op in module.body.operations] == ["sdy.mesh", "func.func"]


def test_a_path_as_text_or_as_a_path(tmp_path: Path) -> None:
    path = tmp_path / "in.mlir"
    path.write_text(TEXT)
    assert str(load(path)) == str(load(str(path))) == str(load(TEXT))
    assert "in.mlir" in load(path).operation.get_asm(enable_debug_info=True)


def test_bytecode(tmp_path: Path) -> None:
    data = bytecode(load(TEXT))
    path = tmp_path / "in.mlirbc"
    path.write_bytes(data)
    assert str(load(data)) == str(load(path)) == str(load(TEXT))
    assert str(load(bytearray(data))) == str(load(memoryview(data))) == str(load(TEXT))


def test_a_word_that_may_be_meant_as_a_path() -> None:
    for path in ("mlp", "models/mlp.ml"):
        with pytest.raises(Error, match=f"no such file: '{path}'; taken for MLIR text"):
            load(path)
    with pytest.raises(Error) as caught:
        load("func.func @f() -> f32 {}")
    assert "no such file" not in str(caught.value)


def test_portable_artifact() -> None:
    program = "\n".join(TEXT.splitlines()[1:])
    artifact = stablehlo.serialize_portable_artifact(load(program), "1.9.0")
    assert str(load(artifact)) == str(load(program))


def test_a_module_is_returned_as_it_is() -> None:
    module = load(TEXT)
    assert load(module) is module


def test_what_jax_lowers_comes_into_a_context_of_ours_with_its_locations() -> None:
    lowered = jax.jit(lambda x: jnp.tanh(x) @ x).lower(jnp.ones((4, 4)))
    module = load(lowered)
    assert str(module) == lowered.as_text()
    assert module.context is not lowered.compiler_ir().context
    assert "test_load.py" in module.operation.get_asm(enable_debug_info=True)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("func.func @f( {", "<text>:1:14: error: expected"),
        (TEXT.replace("@arg0", "@arg1")[:-3], "<text>:4:27: error: expected operation name"),
        (b"\xff", "<bytes>:1:1: error: expected UTF-8 text or MLIR bytecode, found byte 0xff"),
        (b"ML\xefR\x01", "<bytes>: error: "),
        ("", "<text>:1:1: error: expected a module, found no text"),
        ("no/such/file.mlir", "no/such/file.mlir: error: cannot read: No such file or directory"),
        ("module {\n\ud800}", "<text>:2:1: error: not a character: half of a surrogate"),
        ("{" * 3000, "<text>:1:1001: error: nested more than 1000 deep"),
        (
            42,
            "program: expected MLIR text, a path, bytes, a jax.stages.Lowered or an ir.Mod",
        ),
    ],
)
def test_what_is_no_program(program: str | bytes, message: str) -> None:
    with pytest.raises(Error) as caught:
        load(program)
    assert str(caught.value).startswith(message)


def test_an_error_carries_its_diagnostics() -> None:
    with pytest.raises(DiagnosticError) as caught:
        load(TEXT.replace("@main(%arg0", "@main(%arg0: f32, %arg0"))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.severity == "error"
    assert (diagnostic.line, diagnostic.column) == (2, 29)
    assert diagnostic.message == "region entry argument '%arg0' is already in use"
    assert [note.message for note in diagnostic.notes] == ["previously referenced here"]
    assert str(caught.value).splitlines()[1:3] == [
        "func.func @main(%arg0: f32, %arg0: tensor<4xf32>) -> tensor<4xf32> {",
        " " * 28 + "^",
    ]


def test_an_invalid_module_is_refused_with_the_verifiers_words() -> None:
    with pytest.raises(Error, match=r"2:1: error: 'func\.func' op result 0 - unknown mesh: @other"):
        load(
            TEXT.replace(
                "-> tensor<4xf32>",
                "-> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@other, [{}]>})",
            )
        )


def test_contexts_are_single_threaded_and_apart() -> None:
    assert load(TEXT).context is not load(TEXT).context
    assert not make_context().allow_unregistered_dialects
