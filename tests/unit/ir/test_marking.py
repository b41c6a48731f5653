"""Marks on values of modules."""

from __future__ import annotations

import subprocess
import sys

import pytest
from jaxlib.mlir import ir

import sdy
from sdy.ir.diagnostics import verify

PROGRAM = """\
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.add %arg0, %arg0 : tensor<8x8xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
"""
MESH = sdy.Mesh({"x": 2, "y": 4})


@pytest.fixture
def module() -> ir.Module:
    return sdy.load(PROGRAM)


def value(module: ir.Module, name: str) -> ir.Value | sdy.FunctionResult:
    return sdy.find_value(module, name)


def ops(module: ir.Module) -> list[str]:
    function = module.body.operations[len(module.body.operations) - 1]
    return [op.operation.name.split(".")[1] for op in function.regions[0].blocks[0]]


class Since:
    """What is counted from now on."""

    def __init__(self) -> None:
        self._before = sdy.counters()

    def __call__(self) -> dict[str, int]:
        return dict(sdy.counters() - self._before)


def test_an_argument_carries_the_mark_and_the_program_gains_no_op(module: ir.Module) -> None:
    since, before = Since(), ops(module)
    sdy.mark_sharding(value(module, "%arg0"), MESH, ("x", None))
    assert '%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}' in str(
        module
    )
    assert ops(module) == before
    assert since() == {"mark_sharding.argument": 1}


def test_a_result_of_a_function_carries_the_mark(module: ir.Module) -> None:
    since, before = Since(), ops(module)
    sdy.mark_sharding(value(module, "@main result 0"), MESH, (None, ("x", "y")))
    assert '-> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>})' in str(
        module
    )
    assert ops(module) == before
    assert since() == {"mark_sharding.function_result": 1}


def test_an_intermediate_value_gains_one_constraint_that_all_users_read(
    module: ir.Module,
) -> None:
    since = Since()
    marked = value(module, "%0")
    assert sdy.mark_sharding(marked, MESH, (1, None)) is marked
    assert ops(module) == ["add", "sharding_constraint", "multiply", "return"]
    assert '%1 = sdy.sharding_constraint %0 <@mesh, [{"y"}, {}]>' in str(module)
    assert "stablehlo.multiply %1, %1" in str(module)
    assert since() == {"mark_sharding.constraint": 1}
    verify(module)


def test_an_op_stands_for_its_only_result(module: ir.Module) -> None:
    result = value(module, "%0")
    assert isinstance(result, ir.Value)
    sdy.mark_sharding(result.owner, MESH, ("x", None))
    assert ops(module).count("sharding_constraint") == 1


@pytest.mark.parametrize("name", ["%arg0", "%0", "@main result 0"])
def test_a_second_equal_mark_does_nothing(module: ir.Module, name: str) -> None:
    sdy.mark_sharding(value(module, name), MESH, ("x", None))
    once, since = str(module), Since()
    sdy.mark_sharding(value(module, name), "mesh", (0, ()))
    assert str(module) == once
    assert since() == {"mark_sharding.unchanged": 1}


@pytest.mark.parametrize("name", ["%arg0", "%0", "@main result 0"])
def test_a_second_different_mark_is_refused(module: ir.Module, name: str) -> None:
    sdy.mark_sharding(value(module, name), MESH, ("x", None))
    once, since = str(module), Since()
    with pytest.raises(sdy.Error) as refused:
        sdy.mark_sharding(value(module, name), sdy.Mesh({"z": 8}, name="other"), ("z", None))
    assert '<@mesh, [{"x"}, {}]>' in str(refused.value)
    assert '<@other, [{"z"}, {}]>' in str(refused.value)
    assert "sdy.clear_sharding" in str(refused.value)
    assert str(module) == once
    assert since() == {"mark_sharding.refused": 1}


@pytest.mark.parametrize("name", ["%arg0", "%0", "@main result 0"])
def test_clearing_gives_the_program_back(module: ir.Module, name: str) -> None:
    before, since = str(module), Since()
    sdy.mark_sharding(value(module, name), MESH, ("x", None))
    sdy.clear_sharding(value(module, name))
    assert str(module) == before
    sdy.clear_sharding(value(module, name))
    assert str(module) == before
    assert since()["clear_sharding.cleared"] == 1
    assert since()["clear_sharding.unchanged"] == 1
    sdy.mark_sharding(value(module, name), MESH, ("y", None))
    assert '[{"y"}, {}]' in str(module)


@pytest.mark.parametrize("name", ["%arg0", "%0", "@main result 0"])
@pytest.mark.parametrize(
    "first",
    ["[{}, {}]", "[{?}, {?}]", '[{}, {}], replicated={"x"}'],
    ids=["replicated", "unknown", "explicitly replicated"],
)
def test_replicated_and_unknown_give_way(module: ir.Module, name: str, first: str) -> None:
    sdy.set_sharding(value(module, name), f"<@mesh, {first}>")
    sdy.mark_sharding(value(module, name), MESH, ("x", None))
    assert f"@mesh, {first}>" not in str(module)
    assert str(module).count('<@mesh, [{"x"}, {}]>') == (2 if name == "%0" else 1)
    verify(module)


def test_a_replicated_mark_gives_way_without_a_second_op(module: ir.Module) -> None:
    sdy.mark_sharding(value(module, "%0"), MESH, (None, None))
    sdy.mark_sharding(value(module, "%0"), MESH, ("x", None))
    assert ops(module).count("sharding_constraint") == 1
    assert '<@mesh, [{"x"}, {}]>' in str(module)


def test_partial_sums_do_not_count_as_replicated(module: ir.Module) -> None:
    sdy.set_sharding(value(module, "%arg0"), '<@mesh, [{}, {}], unreduced={"x"}>')
    with pytest.raises(sdy.Error, match="unreduced"):
        sdy.mark_sharding(value(module, "%arg0"), MESH, ("x", None))


def test_the_result_of_a_constraint_is_marked_in_the_constraint(module: ir.Module) -> None:
    sdy.mark_sharding(value(module, "%0"), MESH, ("x", None))
    constraint = value(module, "%1")
    with pytest.raises(sdy.Error, match="clear_sharding"):
        sdy.mark_sharding(constraint, MESH, ("y", None))
    sdy.clear_sharding(constraint)
    assert "sdy.sharding_constraint %0 <@mesh, [{?}, {?}]>" in str(module)
    sdy.mark_sharding(constraint, MESH, ("y", None))
    assert ops(module).count("sharding_constraint") == 1
    assert '<@mesh, [{"y"}, {}]>' in str(module)


def test_a_constraint_that_only_some_users_read_is_not_the_values_mark() -> None:
    module = sdy.load("""\
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.negate %arg0 : tensor<8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"y"}]> : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
""")
    sdy.mark_sharding(sdy.find_value(module, "%0"), "mesh", ("x",))
    assert ops(module).count("sharding_constraint") == 2
    assert "sdy.sharding_constraint %1 <@mesh" in str(module)


def test_a_result_among_several_and_of_a_loop() -> None:
    module = sdy.load("""\
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<i32>) -> tensor<8xf32> {
  %0:2 = stablehlo.while(%a = %arg0, %b = %arg1) : tensor<8xf32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %b, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.negate %a : tensor<8xf32>
    stablehlo.return %1, %b : tensor<8xf32>, tensor<i32>
  }
  return %0#0 : tensor<8xf32>
}
""")
    result = sdy.find_value(module, "%0#0")
    assert isinstance(result, ir.Value)
    with pytest.raises(sdy.Error, match="2 results"):
        sdy.mark_sharding(result.owner, None, ("x",))
    sdy.run_pipeline(module, "sdy-add-data-flow-edges")
    sdy.mark_sharding(sdy.find_value(module, "%0#0"), None, ("x",))
    sdy.mark_sharding(sdy.find_value(module, "%0#0"), None, ("x",))
    verify(module)
    assert ops(module)[:3] == ["while", "data_flow_edge", "sharding_constraint"]
    assert ops(module).count("sharding_constraint") == 1
    with pytest.raises(sdy.Error, match=r"inside 'stablehlo\.while'"):
        sdy.mark_sharding(result.owner.regions[0].blocks[0].arguments[0], None, ("x",))


def test_what_an_op_does_is_not_cleared() -> None:
    module = sdy.load("""\
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> tensor<8xf32> {
  %0 = sdy.all_gather [{"x"}] %arg0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}
""")
    before = str(module)
    with pytest.raises(sdy.Error, match=r"sdy\.all_gather.*cannot be cleared"):
        sdy.clear_sharding(sdy.find_value(module, "%0"))
    assert str(module) == before
    sdy.mark_sharding(sdy.find_value(module, "%0"), "mesh", ("y",))
    verify(module)
    sdy.clear_sharding(sdy.find_value(module, "%0"))
    assert str(module) == before


@pytest.mark.parametrize(
    ("mesh", "spec", "message"),
    [
        (MESH, ("x",), "1 entries for a tensor of rank 2"),
        (MESH, ("x", None, None), "3 entries for a tensor of rank 2"),
        (MESH, ("z", None), 'unknown axis name: "z"'),
        (MESH, (2, None), "axis 2 of a mesh with 2 axes"),
        (MESH, ("x", ("y", "x")), "used twice"),
        (MESH, ("x", 1.5), "expected None, the name or the index"),
        (MESH, "xy", "expected a sequence with an entry for each dimension, got the text 'xy'"),
        (MESH, 2, "expected a sequence with an entry for each dimension, got int"),
        ("other", ("x", None), "unknown mesh: @other; the module has @mesh"),
        (sdy.Mesh({"x": 8}, name="mesh"), ("x", None), "another mesh of that name"),
        (7, ("x", None), "expected a Mesh or the name of one"),
    ],
)
@pytest.mark.parametrize("name", ["%arg0", "%0"])
def test_wrong_marks_are_refused_and_change_nothing(
    module: ir.Module, name: str, mesh: sdy.Mesh | str, spec: tuple[str, ...], message: str
) -> None:
    before, since = str(module), Since()
    with pytest.raises(sdy.Error, match=message):
        sdy.mark_sharding(value(module, name), mesh, spec)
    assert str(module) == before
    assert since() == {}


def test_meshes_that_the_module_does_not_have(module: ir.Module) -> None:
    sdy.mark_sharding(value(module, "%arg0"), sdy.Mesh({"z": 8}, name="new"), ("z", None))
    assert 'sdy.mesh @new = <["z"=8]>' in str(module)
    sdy.mark_sharding(value(module, "%0"), sdy.Mesh({"w": 8}), ("w", None))
    assert 'sdy.sharding_constraint %0 <mesh<["w"=8]>, [{"w"}, {}]>' in str(module)
    with pytest.raises(sdy.Error, match="say which mesh is meant: the module has @new, @mesh"):
        sdy.mark_sharding(value(module, "%1"), None, ("x", None))


def test_marks_are_what_propagation_starts_from(module: ir.Module) -> None:
    sdy.mark_sharding(value(module, "%0"), MESH, ("x", None))
    sdy.propagate(module)
    found = {v.name: v.sharding for v in sdy.shardings(module)}
    for name in ("%arg0", "@main result 0"):
        sharding = found[name]
        assert sharding is not None
        assert [d.axes for d in sharding.dimensions] == [(sdy.AxisRef("x"),), ()]


def test_manual_axes_are_not_for_marks_inside() -> None:
    module = sdy.load("""\
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>]
      out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<4xf32>) {
    %1 = stablehlo.negate %arg1 : tensor<4xf32>
    sdy.return %1 : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
""")
    before = str(module)
    with pytest.raises(sdy.Error, match='axis "x" which is already bound'):
        sdy.mark_sharding(sdy.find_value(module, "%1"), "mesh", ("x",))
    assert str(module) == before
    sdy.mark_sharding(sdy.find_value(module, "%1"), "mesh", ("y",))
    verify(module)


def test_a_tensor_on_one_device_is_not_replicated(module: ir.Module) -> None:
    sdy.set_sharding(value(module, "%arg0"), "<mesh<[], device_ids=[3]>, []>")
    with pytest.raises(sdy.Error, match="clear_sharding"):
        sdy.mark_sharding(value(module, "%arg0"), MESH, ("x", None))


def test_modules_are_marked_without_jax() -> None:
    script = (
        "import sys, sdy\n"
        f"module = sdy.load({PROGRAM!r})\n"
        "sdy.mark_sharding(sdy.find_value(module, '%0'), 'mesh', ('x', None))\n"
        "assert 'jax' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
