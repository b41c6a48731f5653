"""Shardings put on values and read back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
        (
            "%0",
            TensorSharding(Mesh({"x": 8}, name="other"), (DimensionSharding(),) * 2),
            "mesh @other cannot be added: the module has an op 'func.func' of that name",
        ),
        (
            "%0",
            TensorSharding(Mesh({"x": 0}, name="new"), (DimensionSharding(),) * 2),
            "axis size must be at least 1, got: 0",
        ),
        (
            "%0",
            TensorSharding(Mesh({"\udcff": 2}, name="new"), (DimensionSharding(),) * 2),
            "the mesh has a name that is not UTF-8",
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
        ("%x", "main", "no value '%x' in function @main; in the module's text its values are %ar"),
        ("arg0", "main", r"no value 'arg0' in function @main; did you mean '%arg0'\?"),
        ("%1", "main", "no value '%1' in function @main; the op has 2 results, '%1#0' to '%1#1'"),
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


def test_values_of_one_name_are_told_apart() -> None:
    module = load("""\
func.func @main(%arg0: tensor<i32>, %arg1: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.case"(%arg0) ({
    %1 = stablehlo.tanh %arg1 : tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }, {
    %1 = stablehlo.exponential %arg1 : tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}""")
    with pytest.raises(Error) as caught:
        find_value(module, "%1")
    assert str(caught.value).splitlines() == [
        "'%1' names 2 values in function @main; say which:",
        "  occurrence=0 is of 'stablehlo.tanh' at -:3:10",
        "  occurrence=1 is of 'stablehlo.exponential' at -:6:10",
    ]
    value: Any = find_value(module, "%1", occurrence=1)
    assert value.owner.name == "stablehlo.exponential"
    with pytest.raises(Error, match="'%1' names 2 values, there is no occurrence 2"):
        find_value(module, "%1", occurrence=2)


NESTED = """\
sdy.mesh @mesh = <["x"=2]>
module @inner {
  sdy.mesh @mesh = <["y"=4]>
  func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
    return
  }
}
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return
}
"""


def test_meshes_are_those_of_the_nearest_module() -> None:
    module = load(NESTED)
    assert [(value.function, value.local_type) for value in shardings(module)] == [
        ("inner::@main", "tensor<2xf32>"),
        ("main", "tensor<4xf32>"),
    ]
    set_sharding(find_value(module, "%arg0", "inner::@main"), "<@mesh, [{?}]>")
    assert [value.local_type for value in shardings(module)] == ["tensor<8xf32>", "tensor<4xf32>"]


def test_a_value_in_no_module(module: ir.Module) -> None:
    value: Any = find_value(module, "%0")
    with pytest.raises(Error, match=r"op 'stablehlo\.add' is not in a module"):
        set_sharding(value.owner.clone(), BY_X)


def test_arguments_of_other_types(module: ir.Module) -> None:
    of_any_type: Any = set_sharding
    value = find_value(module, "%0")
    for wrong in (None, "%0", module):
        with pytest.raises(TypeError, match="value: expected a value, such as"):
            of_any_type(wrong, BY_X)
    with pytest.raises(TypeError, match="sharding: expected a TensorSharding or a str, got int"):
        of_any_type(value, 3)
    ask: Any
    for ask in (shardings, lambda module: find_value(module, "%0")):
        for wrong in (PROGRAM, module.operation):
            with pytest.raises(TypeError, match=r"module: expected an ir\.Module.*, got"):
                ask(wrong)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (r'sdy.mesh @"\FF" = <["x"=2]>', r":1:1: error: the name of 'sdy\.mesh' is not UTF-8: "),
        (r'sdy.mesh @m = <["\FF"=2]>', r"error: the name of an axis is not UTF-8: "),
        (r'func.func @"\FF"() { return }', r"the name of 'func\.func' is not UTF-8"),
    ],
)
def test_names_that_are_not_utf_8(text: str, message: str) -> None:
    with pytest.raises(Error, match=message):
        shardings(load(text))
