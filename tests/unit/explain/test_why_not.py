"""Why a dimension is not split: what came near, what stopped it, and who won."""

from __future__ import annotations

import sdy
from sdy.explain.answers import WhyNot
from sdy.explain.why_not import Conflict
from tests.unit.explain.programs import MLP, function

ADD = "%0 = stablehlo.add %x, %y : tensor<8x8xf32>\nreturn %0 : tensor<8x8xf32>"


def add(first: str, second: str, body: str = ADD, mesh: str = "") -> str:
    """Return a program that adds two arguments with these shardings."""
    arguments = ", ".join(
        f"%{name}: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<{sharding}>}}"
        for name, sharding in (("x", first), ("y", second))
    )
    return function(arguments, "tensor<8x8xf32>", body, *([mesh] if mesh else []))


def why_not(program: str, name: str, dim: int, axis: str | None = None) -> WhyNot:
    (answer,) = sdy.explain(program).why(name, dim, axis).why_not
    return answer


def conflict(program: str, name: str, dim: int) -> Conflict:
    (found,) = why_not(program, name, dim).conflicts
    return found


def test_an_axis_splits_another_dimension_already() -> None:
    program = add('@mesh, [{"data", ?}, {?}]', '@mesh, [{?}, {"data", ?}]')
    found = conflict(program, "%0", 1)
    assert found.reason == "axis used"
    assert [str(axis) for axis in found.axes] == ['"data"']
    assert (found.source_name, found.op_name) == ("%arg1", "stablehlo.add")
    assert found.winner is not None
    assert (found.winner.name, found.winner.dim) == ("%0", 0)
    assert found.annotation is not None
    assert found.annotation.text == "argument %arg0"


def test_operands_have_other_axes() -> None:
    program = add('@mesh, [{"data", ?}, {?}]', '@mesh, [{"model", ?}, {?}]')
    found = conflict(program, "%0", 0)
    assert found.reason == "other axes"
    assert found.source_name == "%arg0"
    assert found.winner is not None
    assert found.winner.name == "%arg1"
    text = str(sdy.explain(program).why("%0", 0))
    assert '"data" of %arg0 does not come through stablehlo.add' in text
    assert '%arg1 has "model" there, from argument %arg1 at <text>:2, and they must agree' in text


def test_the_program_closes_the_dimension() -> None:
    answer = why_not(add('@mesh, [{"data", ?}, {?}]', "@mesh, [{}, {?}]"), "%arg1", 0)
    assert answer.closed_by is not None
    assert answer.closed_by.text == "argument %arg1"
    assert [found.reason for found in answer.conflicts] == ["closed"]


def test_the_program_keeps_the_axis_replicated() -> None:
    program = add('@mesh, [{"data", ?}, {?}]', '@mesh, [{?}, {?}], replicated={"data"}')
    assert conflict(program, "%arg1", 0).reason == "kept replicated"


def test_an_axis_would_split_the_minor_part_of_a_dimension() -> None:
    program = function(
        '%x: tensor<3x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"data", ?}]>}',
        "tensor<24xf32>",
        "%0 = stablehlo.reshape %x : (tensor<3x8xf32>) -> tensor<24xf32>\n"
        "return %0 : tensor<24xf32>",
    )
    assert conflict(program, "%0", 0).reason == "minor part"


def test_a_part_of_a_dimension_does_not_divide() -> None:
    program = function(
        '%x: tensor<24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", ?}]>}',
        "tensor<3x8xf32>",
        "%0 = stablehlo.reshape %x : (tensor<24xf32>) -> tensor<3x8xf32>\n"
        "return %0 : tensor<3x8xf32>",
    )
    assert conflict(program, "%0", 0).reason == "does not divide"


def test_an_elementwise_op_splits_an_operand_only_as_its_result() -> None:
    program = function(
        '%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", ?}, {?}]>}, '
        "%y: tensor<8x8xf32>",
        '(tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>})',
        "%0 = stablehlo.add %x, %y : tensor<8x8xf32>\n"
        '%1 = sdy.sharding_constraint %0 <@mesh, [{}, {"data"}]> : tensor<8x8xf32>\n'
        "return %1 : tensor<8x8xf32>",
    )
    reasons = {found.reason for found in why_not(program, "%arg1", 0).conflicts}
    assert reasons <= {"result differs", "axis used"}
    assert reasons


def test_a_barrier_lets_nothing_through() -> None:
    program = function(
        '%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", ?}]>}',
        "tensor<8xf32>",
        "%0 = sdy.propagation_barrier %x allowed_direction=NONE : tensor<8xf32>\n"
        "return %0 : tensor<8xf32>",
    )
    assert conflict(program, "%0", 0).reason == "blocked"


def test_tensors_of_one_op_are_on_different_meshes() -> None:
    meshes = 'sdy.mesh @one = <["a"=2]>\nsdy.mesh @two = <["b"=4]>'
    program = add('@one, [{"a", ?}, {?}]', '@two, [{"b", ?}, {?}]', mesh=meshes)
    found = conflict(program, "%0", 0)
    assert (found.reason, found.source_name) == ("other mesh", "%arg0")


def test_an_op_without_a_rule_is_named() -> None:
    program = function(
        '%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", ?}]>}',
        "tensor<8xf32>",
        "%0 = stablehlo.custom_call @mystery(%x) : (tensor<8xf32>) -> tensor<8xf32>\n"
        "return %0 : tensor<8xf32>",
    )
    answer = why_not(program, "%0", 0)
    assert answer.without_rule == ("stablehlo.custom_call @mystery",)
    assert not answer.is_tied


def test_what_stops_an_axis_far_away_is_found() -> None:
    ops = "\n".join(f"%{i} = stablehlo.tanh %{i - 1} : tensor<8x8xf32>" for i in range(1, 6))
    body = f"{ADD.partition('return')[0]}{ops}\nreturn %5 : tensor<8x8xf32>"
    program = add('@mesh, [{"data", ?}, {?}]', '@mesh, [{"model", ?}, {?}]', body)
    found = conflict(program, "%5", 0)
    assert (found.name, found.distance) == ("%0", 5)
    assert "5 ops away" in str(sdy.explain(program).why("%5", 0))


def test_nothing_comes_near() -> None:
    answer = why_not(MLP, "%2", 1)
    assert answer.conflicts == ()
    assert answer.is_tied
    text = str(sdy.explain(MLP).why("%2", 1))
    assert "it has no annotation, and nothing that it is tied to is split" in text


def test_an_axis_that_was_asked_about_splits_another_dimension() -> None:
    answer = why_not(MLP, "%1", 0, "model")
    assert answer.used_in == 1
    assert '"model" splits dimension 1 of it' in str(sdy.explain(MLP).why("%1", 0, "model"))


def test_a_scalar_has_nothing_to_split() -> None:
    program = function("%x: tensor<f32>", "tensor<f32>", "return %x : tensor<f32>")
    assert str(sdy.explain(program).why("%arg0")).splitlines() == [
        "%arg0: tensor<f32>, no sharding",
        "  it has no dimensions to split",
    ]
