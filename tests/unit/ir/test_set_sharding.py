"""Shardings put on values and read back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sdy.dialect.axes import AxisRef
from sdy.dialect.errors import Error, ParseError, VerifyError
from sdy.dialect.mesh import Mesh
from sdy.dialect.sharding import DimensionSharding, TensorSharding
from sdy.ir.load import load
from sdy.ir.set_sharding import set_sharding
from sdy.ir.shardings import ValueSharding, shardings
from sdy.ir.values import FunctionResult, find_value

if TYPE_CHECKING:
    from jaxlib.mlir import ir

PROGRAM = """\
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<8x8xf32>, %arg1: tensor<8x8xf32> {jax.kept})
    -> (tensor<8x8xf32>, tensor<8x8xf32> {jax.result_info = "r"}) {
  %0 = stablehlo.add %arg0, %arg1 : tensor<8x8xf32>
  %1:2 = "stablehlo.optimization_barrier"(%0, %arg1)
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
  %2 = sdy.sharding_constraint %1#0 <@mesh, [{}, {}]> : tensor<8x8xf32>
  return %2, %1#1 : tensor<8x8xf32>, tensor<8x8xf32>
}
func.func @other(%arg0: tensor<f32>) -> tensor<f32> { return %arg0 : tensor<f32> }
"""
BY_X = '<@mesh, [{"x"}, {?}]>'


@pytest.fixture
def module() -> ir.Module:
    return load(PROGRAM)


def known(module: ir.Module) -> dict[str, str]:
    """The text of each sharding in main, by the value's name."""
    return {
        value.name: value.sharding.body
        for value in shardings(module)
        if value.sharding is not None and value.function == "main"
    }


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("%arg0", '%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}'),
        ("%arg1", "{jax.kept, sdy.sharding = #sdy.sharding<@mesh"),
        ("@main result 0", '-> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}'),
        ("@main result 1", '{jax.result_info = "r", sdy.sharding = #sdy.sharding<@mesh'),
        (
            "%0",
            'add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {?}]>]>}',
        ),
        ("%1#1", 'sdy.sharding_per_value<[<@mesh, [{?}, {?}]>, <@mesh, [{"x"}, {?}]>]>'),
        ("%2", 'sdy.sharding_constraint %1#0 <@mesh, [{"x"}, {?}]>'),
    ],
)
def test_each_kind_of_value_keeps_its_sharding_in_its_place(
    module: ir.Module, name: str, line: str
) -> None:
    set_sharding(find_value(module, name), BY_X)
    assert line in str(module)
    assert known(module)[name] == '@mesh, [{"x"}, {?}]'
    assert module.operation.verify()


@pytest.mark.parametrize(
    "text",
    [
        '<@mesh, [{"x"}, {?}]>',
        'sharding<@mesh, [{"x"}, {?}]>',
        '#sdy.sharding<@mesh, [{"x"}, {?}]>',
        '<@mesh, [<"x">, <?>]>',
    ],
)
def test_spellings(module: ir.Module, text: str) -> None:
    set_sharding(find_value(module, "%arg0"), text)
    assert known(module)["%arg0"] == '@mesh, [{"x"}, {?}]'


def test_an_op_stands_for_its_only_result(module: ir.Module) -> None:
    body = module.body.operations[1].operation.regions[0].blocks[0].operations
    set_sharding(body[0], BY_X)
    assert "%0" in known(module)
    with pytest.raises(Error, match="has 2 results: say which one is sharded"):
        set_sharding(body[1], BY_X)


def test_a_later_sharding_replaces_an_earlier_one(module: ir.Module) -> None:
    value = find_value(module, "%1#0")
    set_sharding(value, BY_X)
    set_sharding(find_value(module, "%1#1"), BY_X)
    set_sharding(value, '<@mesh, [{}, {"y"}]>')
    assert known(module)["%1#0"] == '@mesh, [{}, {"y"}]'
    assert known(module)["%1#1"] == '@mesh, [{"x"}, {?}]'


def test_a_new_mesh_is_added(module: ir.Module) -> None:
    mesh = Mesh({"data": 8}, name="flat")
    sharding = TensorSharding(mesh, (DimensionSharding((AxisRef("data"),)), DimensionSharding()))
    set_sharding(find_value(module, "%arg0"), sharding)
    assert 'sdy.mesh @flat = <["data"=8]>' in str(module)
    assert module.operation.verify()
    set_sharding(find_value(module, "%arg1"), sharding)
    assert str(module).count("sdy.mesh @flat") == 1


@pytest.mark.parametrize(
    ("name", "sharding", "message"),
    [
        ("%arg0", '<@other, [{"x"}, {}]>', "unknown mesh: @other"),
        ("%arg0", '<@mesh, [{"z"}, {}]>', 'unknown axis name: "z"'),
        ("%arg0", '<@mesh, [{"x"}]>', "sharding doesn't match tensor rank: 1 != 2"),
        ("%0", '<@mesh, [{"x"}, {"x"}]>', 'duplicate axis ref: "x"'),
        (
            "@main result 0",
            TensorSharding(Mesh({"x": 8}, name="mesh"), (DimensionSharding(),) * 2),
            "the module has another mesh of that name",
        ),
    ],
)
def test_what_does_not_fit_leaves_the_module_as_it_was(
    module: ir.Module, name: str, sharding: str | TensorSharding, message: str
) -> None:
    before = str(module)
    with pytest.raises(VerifyError, match=message):
        set_sharding(find_value(module, name), sharding)
    assert str(module) == before


def test_text_that_is_no_sharding(module: ir.Module) -> None:
    with pytest.raises(ParseError, match="1:"):
        set_sharding(find_value(module, "%arg0"), '<@mesh, [{"x"')


def test_arguments_that_cannot_have_a_sharding() -> None:
    module = load(
        """\
sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0]
      : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}"""
    )
    reduce = module.body.operations[1].operation.regions[0].blocks[0].operations[0].operation
    inner = reduce.regions[0].blocks[0].arguments[0]
    with pytest.raises(Error, match=r"an argument inside 'stablehlo\.reduce' cannot be given"):
        set_sharding(inner, "<@mesh, []>")


def test_find_value(module: ir.Module) -> None:
    assert isinstance(find_value(module, "@main result 1"), FunctionResult)
    assert str(find_value(module, "%arg0", "other").type) == "tensor<f32>"
    for name, function, message in (
        ("%7", "main", "no value '%7' in function @main"),
        ("%0", "none", "no function @none; the module's functions are: @main, @other"),
        ("@main result 2", "main", "function @main has 2 results, no result 2"),
    ):
        with pytest.raises(Error, match=message):
            find_value(module, name, function)


def test_shardings_lists_every_value_in_the_order_of_the_text(module: ir.Module) -> None:
    set_sharding(find_value(module, "%arg0"), BY_X)
    values = shardings(module)
    assert [(value.function, value.name) for value in values] == [
        ("main", "%arg0"),
        ("main", "%arg1"),
        ("main", "@main result 0"),
        ("main", "@main result 1"),
        ("main", "%0"),
        ("main", "%1#0"),
        ("main", "%1#1"),
        ("main", "%2"),
        ("other", "%arg0"),
        ("other", "@other result 0"),
    ]
    assert values[0] == ValueSharding(
        "%arg0", "main", "tensor<8x8xf32>", values[0].sharding, "tensor<4x8xf32>"
    )
    assert values[1].sharding is None
    assert values[1].local_type == "tensor<8x8xf32>"


def test_shardings_inside_of_regions() -> None:
    module = load(
        """\
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<16x?xf32>) -> tensor<16x?xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x", "y"}, {}]>]
      out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg1: tensor<8x?xf32>) {
    sdy.return %arg1 : tensor<8x?xf32>
  } : (tensor<16x?xf32>) -> tensor<16x?xf32>
  return %0 : tensor<16x?xf32>
}"""
    )
    by_name = {value.name: value for value in shardings(module)}
    assert str(by_name["%0"].sharding) == 'sharding<@mesh, [{"x"}, {}]>'
    assert by_name["%0"].local_type == "tensor<8x?xf32>"
    # The body sees the free axes alone, and its types are local along the manual ones already.
    assert str(by_name["%arg1"].sharding) == 'sharding<@mesh, [{"y"}, {}]>'
    assert by_name["%arg1"].local_type == "tensor<2x?xf32>"
