"""The form that a program has in HLO: XLA reads it as it would read the original."""

from __future__ import annotations

import re

import pytest
from jaxlib import _jax
from jaxlib.mlir import ir

from sdy.compile.hlo_form.form import to_hlo_form
from sdy.compile.hlo_form.kept_shardings import keep_shardings
from sdy.dialect.errors import Error
from sdy.ir.bytecode import to_bytecode
from sdy.ir.indexed_module import IndexedModule
from sdy.ir.load import load

MESH = 'sdy.mesh @mesh = <["x"=2, "y"=4]>\n'


def rewritten(program: str, platform: str = "cpu") -> ir.Module:
    module = load(program)
    to_hlo_form(module, platform, is_propagated=False)
    assert module.operation.verify()
    return module


def ops(module: ir.Module) -> list[str]:
    return re.findall(r"(?:stablehlo|chlo|sdy|func)\.(\w+) [%@\"]", str(module))


def hlo_ops(module: ir.Module) -> list[str]:
    """Return the opcodes and result types of the entry of what XLA reads."""
    computation = _jax.mlir.mlir_module_to_xla_computation(to_bytecode(module), False, True)
    entry = computation.as_hlo_text().partition("ENTRY")[2]
    return re.findall(r" = ([a-z0-9]+\[[0-9,]*\]\S* [a-z-]+)\(", entry)


def function(argument: str, result: str, body: str) -> str:
    return f"func.func @main(%x: {argument}) -> {result} {{\n{body}\n}}"


@pytest.mark.parametrize(
    ("operand", "dims", "result", "expected"),
    [
        ("4x8", [0, 1], "4x8", ["broadcast_in_dim"]),
        ("8", [1], "4x8", ["broadcast_in_dim"]),
        ("8", [2], "1x1x8", ["reshape"]),
        ("4x1", [0, 1], "4x8", ["broadcast_in_dim", "reshape", "broadcast_in_dim"]),
        ("1x8", [0, 2], "4x2x8", ["broadcast_in_dim", "reshape", "broadcast_in_dim"]),
        ("1x1x8", [0, 1, 2], "4x2x8", ["broadcast_in_dim", "reshape", "broadcast_in_dim"]),
        ("4x1", [0, 1], "4x1", ["broadcast_in_dim"]),
        ("4x1", [0, 2], "4x1x1", ["reshape"]),
        ("8x4", [1, 0], "4x8", ["broadcast_in_dim"]),
    ],
)
def test_broadcasts_are_those_of_hlo(
    operand: str, dims: list[int], result: str, expected: list[str]
) -> None:
    types = f"tensor<{operand}xf32>", f"tensor<{result}xf32>"
    program = function(
        *types,
        f"  %0 = stablehlo.broadcast_in_dim %x, dims = {dims} : ({types[0]}) -> {types[1]}\n"
        f"  return %0 : {types[1]}",
    )
    assert ops(rewritten(program))[1:] == expected
    # Only the step that adds nothing is not seen again: XLA folds it as it reads it.
    read = hlo_ops(load(program))
    again = hlo_ops(rewritten(program))
    assert [op for op in read if op in again] == again


def test_where_xla_simplifies_a_broadcast_reads_past_dimensions_of_size_one() -> None:
    program = function(
        "tensor<8xf32>",
        "tensor<4x8xf32>",
        "  %0 = stablehlo.reshape %x : (tensor<8xf32>) -> tensor<1x8xf32>\n"
        "  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1]"
        " : (tensor<1x8xf32>) -> tensor<4x8xf32>\n"
        "  return %1 : tensor<4x8xf32>",
    )
    text = str(rewritten(program, "gpu"))
    assert "broadcast_in_dim %arg0, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>" in text


def test_a_broadcast_does_not_read_past_a_transpose() -> None:
    program = function(
        "tensor<4x4xf32>",
        "tensor<2x4x4xf32>",
        "  %0 = stablehlo.broadcast_in_dim %x, dims = [2, 1]"
        " : (tensor<4x4xf32>) -> tensor<1x4x4xf32>\n"
        "  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2]"
        " : (tensor<1x4x4xf32>) -> tensor<2x4x4xf32>\n"
        "  return %1 : tensor<2x4x4xf32>",
    )
    text = str(rewritten(program, "gpu"))
    assert "broadcast_in_dim %arg0, dims = [2, 1]" in text
    assert "broadcast_in_dim %1, dims = [1, 2] : (tensor<4x4xf32>)" in text


def test_steps_of_a_broadcast_are_sharded_as_its_result() -> None:
    program = MESH + function(
        "tensor<4x1xf32>",
        "tensor<4x8xf32>",
        "  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1]"
        ' {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>}'
        " : (tensor<4x1xf32>) -> tensor<4x8xf32>\n"
        "  return %0 : tensor<4x8xf32>",
    )
    shardings = re.findall(r"_value<\[<@mesh, (.*?)>\]>\} : .* -> (.*)", str(rewritten(program)))
    assert shardings == [
        ('[{"x"}, {}]', "tensor<4x1xf32>"),
        ('[{"x"}]', "tensor<4xf32>"),
        ('[{"x"}, {"y"}]', "tensor<4x8xf32>"),
    ]


def test_reshapes_of_reshapes_are_one() -> None:
    program = function(
        "tensor<8xf32>",
        "tensor<4x2xf32>",
        "  %0 = stablehlo.reshape %x : (tensor<8xf32>) -> tensor<2x4xf32>\n"
        "  %1 = stablehlo.reshape %0 : (tensor<2x4xf32>) -> tensor<8xf32>\n"
        "  %2 = stablehlo.tanh %1 : tensor<8xf32>\n"
        "  %3 = stablehlo.reshape %0 : (tensor<2x4xf32>) -> tensor<4x2xf32>\n"
        "  return %3 : tensor<4x2xf32>",
    )
    text = str(rewritten(program))
    assert "stablehlo.tanh %arg0" in text
    assert "stablehlo.reshape %arg0 : (tensor<8xf32>) -> tensor<4x2xf32>" in text


CALLS = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %0 = call @outer(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = call @inner(%0) {attributes}: (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}}
func.func private @outer(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %0 = call @inner(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.cosine %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}}
func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %0 = stablehlo.sine %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}}
"""


def test_calls_are_inlined() -> None:
    assert ops(rewritten(CALLS.format(attributes=""))) == ["func", "sine", "cosine", "sine"]


@pytest.mark.parametrize(
    "attributes",
    [
        'mhlo.frontend_attributes = {inlineable = "false"}',
        'sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>',
    ],
)
def test_calls_that_say_something_are_left(attributes: str) -> None:
    text = str(rewritten(MESH + CALLS.format(attributes=f"{{{attributes}}} ")))
    assert text.count("call @inner") == 1
    assert "call @outer" not in text


def test_recursion_is_refused() -> None:
    program = """
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = call @main(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    """
    with pytest.raises(Error, match="function @main is recursive"):
        rewritten(program)


TOP_K = function(
    "tensor<4x8xf32>",
    "tensor<4x2xf32>",
    "  %v, %i = chlo.top_k(%x, k = 2) : tensor<4x8xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)\n"
    "  return %v : tensor<4x2xf32>",
)


def test_top_k_is_a_custom_call_that_xla_reads_as_top_k() -> None:
    module = rewritten(TOP_K)
    assert "stablehlo.custom_call @mhlo.topk(%arg0)" in str(module)
    assert hlo_ops(module) == hlo_ops(load(TOP_K))


def unary(name: str) -> str:
    return function(
        "tensor<8xf32>",
        "tensor<8xf32>",
        f"  %0 = chlo.{name} %x : tensor<8xf32> -> tensor<8xf32>\n  return %0 : tensor<8xf32>",
    )


def test_the_error_function_is_a_custom_call_that_xla_reads_as_its_own() -> None:
    module = rewritten(unary("erf"))
    assert "stablehlo.custom_call @mhlo.erf(%arg0)" in str(module)
    assert hlo_ops(module) == hlo_ops(load(unary("erf")))


@pytest.mark.parametrize("name", ["acos", "erf_inv", "lgamma", "square", "tan"])
def test_other_functions_are_what_xla_makes_of_them(name: str) -> None:
    module = rewritten(unary(name))
    assert "chlo" not in str(module)
    assert "call" not in str(module)
    assert hlo_ops(module) == hlo_ops(load(unary(name)))


def test_top_k_is_unknown_on_gpus() -> None:
    assert "chlo.top_k" in str(rewritten(TOP_K, "gpu"))


DOT = """
func.func @main(%x: tensor<3x4x5xf32>, %y: tensor<3x5x6xf32>) -> tensor<3x6x4xf32> {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1],
      precision = [HIGH, DEFAULT] : (tensor<3x4x5xf32>, tensor<3x5x6xf32>) -> tensor<3x4x6xf32>
  %1 = stablehlo.transpose %0, dims = [0, 2, 1] : (tensor<3x4x6xf32>) -> tensor<3x6x4xf32>
  return %1 : tensor<3x6x4xf32>
}
"""


def test_transposed_products_are_products_where_xla_simplifies() -> None:
    text = str(rewritten(DOT, "tpu"))
    assert (
        "dot_general %arg1, %arg0, batching_dims = [0] x [0], contracting_dims = [1] x [2], "
        "precision = [DEFAULT, HIGH]" in text
    )
    assert "transpose" not in text
    assert "transpose" in str(rewritten(DOT, "cpu"))


def test_other_transposes_are_left() -> None:
    rotated = DOT.replace("dims = [0, 2, 1]", "dims = [2, 1, 0]").replace("3x6x4", "6x4x3")
    assert "transpose" in str(rewritten(rotated, "tpu"))


def test_what_xla_would_fold_is_a_reshard() -> None:
    module = load(
        MESH
        + function(
            "tensor<4x1xf32>",
            "tensor<4x1xf32>",
            "  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1]"
            ' {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}'
            " : (tensor<4x1xf32>) -> tensor<4x1xf32>\n"
            "  return %0 : tensor<4x1xf32>",
        )
    )
    keep_shardings(IndexedModule(module))
    assert '%0 = sdy.reshard %arg0 <@mesh, [{"x"}, {}]>' in str(module)


def test_what_branches_return_is_sharded_as_the_result() -> None:
    module = load(
        MESH
        + """
        func.func @main(%i: tensor<i32>,
            %x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
            %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<8xf32> {
          %0 = "stablehlo.case"(%i) ({
            stablehlo.return %x : tensor<8xf32>
          }, {
            stablehlo.return %y : tensor<8xf32>
          }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
              : (tensor<i32>) -> tensor<8xf32>
          return %0 : tensor<8xf32>
        }
        """
    )
    keep_shardings(IndexedModule(module))
    assert re.findall(r"(stablehlo.return|sdy.reshard) (%\S+)", str(module)) == [
        ("stablehlo.return", "%arg1"),
        ("sdy.reshard", "%arg2"),
        ("stablehlo.return", "%1"),
    ]
