"""Why a value is split: the way of each axis from an annotation to it."""

from __future__ import annotations

import pytest

import sdy
from sdy.explain.why import Chain
from tests.unit.explain.programs import CONSTRAINED, LOOP, MLP, function


def only_chain(program: str, *question: str | int) -> Chain:
    """Return the only chain of an answer."""
    name, *rest = question
    assert isinstance(name, str)
    dim = rest[0] if rest and isinstance(rest[0], int) else None
    axis = rest[1] if len(rest) > 1 and isinstance(rest[1], str) else None
    (chain,) = sdy.explain(program).why(name, dim, axis).chains
    return chain


def way(chain: Chain) -> list[tuple[str, int, str]]:
    """Return the stations of a chain: the value, the dimension, and how the axis came there."""
    return [
        (
            arrival.name,
            arrival.dim,
            "annotated" if arrival.move is None else arrival.move.direction,
        )
        for arrival in chain.arrivals
    ]


def test_an_axis_goes_forward_from_an_argument() -> None:
    chain = only_chain(MLP, "%2", 0)
    assert way(chain) == [
        ("%arg0", 0, "annotated"),
        ("%0", 0, "forward"),
        ("%1", 0, "forward"),
        ("%2", 0, "forward"),
    ]
    assert chain.annotation is not None
    assert chain.annotation.kind == "argument"
    assert chain.annotation.origin == "input: 0"
    assert chain.annotation.text == "argument %arg0 (x)"
    assert str(chain.annotation.sharding) == 'sharding<@mesh, [{"data"}, {?}]>'


def test_an_axis_goes_from_operand_to_operand_of_a_contraction() -> None:
    chain = only_chain(MLP, "%arg2", 0, "model")
    assert way(chain) == [
        ("%arg1", 1, "annotated"),
        ("%0", 1, "forward"),
        ("%1", 1, "forward"),
        ("%arg2", 0, "sideways"),
    ]


def test_a_move_says_where_it_is_and_in_which_round() -> None:
    move = only_chain(MLP, "%1", 1).end.move
    assert move is not None
    assert (move.op_name, move.factor) == ("stablehlo.tanh", "j")
    assert move.place.label == "jit(f)/tanh"
    assert [str(frame) for frame in move.place.frames] == [
        "model.py:3 in act",
        "model.py:13 in layer",
    ]
    assert (move.user_priority, move.op_priority, move.strategy) == (0, 2, "aggressive")


def test_an_axis_goes_backward_from_a_constraint_and_into_the_result() -> None:
    explanation = sdy.explain(CONSTRAINED)
    (chain,) = explanation.why("%arg0").chains
    assert chain.annotation is not None
    assert chain.annotation.kind == "constraint"
    assert chain.annotation.origin == "constraint_0"
    assert str(chain.annotation.place) == "model.py:7"
    assert way(chain) == [("%0", 0, "annotated"), ("%arg0", 0, "backward")]
    (chain,) = explanation.why("@main result 0").chains
    assert way(chain) == [
        ("%1", 0, "annotated"),
        ("%2", 0, "forward"),
        ("@main result 0", 0, "result"),
    ]


def test_user_priorities_decide_when_an_axis_comes() -> None:
    program = function(
        '%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", ?}p1, {?}]>}, '
        '%y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model", ?}, {?}]>}',
        "tensor<8x8xf32>",
        "%0 = stablehlo.add %x, %y : tensor<8x8xf32>\nreturn %0 : tensor<8x8xf32>",
    )
    chain = only_chain(program, "%0", 0)
    assert way(chain) == [("%arg1", 0, "annotated"), ("%0", 0, "forward")]
    program = program.replace('{"model", ?}, {?}', '{?}, {"model", ?}')
    move = only_chain(program, "%0", 0).end.move
    assert move is not None
    assert move.user_priority == 1


def test_members_of_a_sharding_group_have_axes_from_each_other() -> None:
    program = function(
        '%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}, %y: tensor<8xf32>',
        "tensor<8xf32>",
        """
  %0 = stablehlo.tanh %x : tensor<8xf32>
  sdy.sharding_group %0 group_id=0 : tensor<8xf32>
  sdy.sharding_group %y group_id=0 : tensor<8xf32>
  return %0 : tensor<8xf32>""",
    )
    chain = only_chain(program, "%arg1")
    assert way(chain) == [("%arg0", 0, "annotated"), ("%0", 0, "forward"), ("%arg1", 0, "group")]


def test_an_axis_goes_round_in_a_loop() -> None:
    explanation = sdy.explain(LOOP)
    (chain,) = explanation.why("%iterArg_0/0").chains
    assert way(chain)[0] == ("%arg1", 0, "annotated")
    move = chain.arrivals[1].move
    assert move is not None
    assert move.op_name == "stablehlo.while"
    assert move.direction == "forward"


def test_parts_of_an_axis_that_came_one_after_the_other_are_told_as_one() -> None:
    program = function(
        '%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model":(1)2, ?}]>}, '
        '%y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model", ?}]>}',
        "tensor<8xf32>",
        "%0 = stablehlo.add %x, %y : tensor<8xf32>\nreturn %0 : tensor<8xf32>",
    )
    assert way(only_chain(program, "%0", 0, "model"))[0][0] == "%arg1"


def test_what_the_export_takes_away_is_told() -> None:
    program = function(
        '%x: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", ?}]>}, '
        '%y: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model", ?}]>}',
        "tensor<6xf32>",
        "%0 = stablehlo.tanh %y : tensor<6xf32>\nreturn %0 : tensor<6xf32>",
    )
    why = sdy.explain(program).why("%arg1")
    (removal,) = why.removed
    assert [str(axis) for axis in removal.axes] == ['"model"']
    assert (removal.size, removal.parts) == (6, 4)
    assert '"model"' in str(why)
    assert "4 parts do not divide its size 6" in str(why)


def test_the_answer_is_a_text() -> None:
    assert str(sdy.explain(MLP).why("%1", 1)) == (
        '%1: tensor<16x64xf32>, sharding<@mesh, [{"data"}, {"model"}]>\n'
        "  result of stablehlo.tanh at model.py:3 in act\n"
        '  dimension 1 is split along "model" in 4:\n'
        '    %arg1 (up) dim 1  annotated <@mesh, [{}, {"model"}]>\n'
        "    %0 dim 1          forward through stablehlo.dot, factor j, at model.py:12 in layer "
        "(user 0, op 2, aggressive)\n"
        "    %1 dim 1          forward through stablehlo.tanh, factor j, at model.py:3 in act "
        "(user 0, op 2, aggressive)"
    )


def test_long_chains_are_cut_in_the_middle_of_the_text() -> None:
    ops = "\n".join(f"%{i} = stablehlo.tanh %{i - 1} : tensor<8xf32>" for i in range(1, 41))
    program = function(
        '%0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}',
        "tensor<8xf32>",
        f"{ops}\nreturn %40 : tensor<8xf32>",
    )
    why = sdy.explain(program).why("%39")
    assert len(why.chains[0].arrivals) == 41
    assert "... 26 more steps" in str(why)


@pytest.mark.parametrize("program", [MLP, CONSTRAINED, LOOP])
def test_the_module_is_that_of_propagate_and_the_given_one_stays(program: str) -> None:
    module = sdy.load(program)
    before = module.operation.get_asm(enable_debug_info=True)
    explanation = sdy.explain(module)
    assert module.operation.get_asm(enable_debug_info=True) == before
    after = sdy.propagate(program).operation.get_asm(enable_debug_info=True)
    assert explanation.module.operation.get_asm(enable_debug_info=True) == after


CALLS = """
sdy.mesh @mesh = <["data"=2]>
func.func @main(
    %x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) -> tensor<8xf32> {
  %0 = call @double(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @double(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @double(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.add %x, %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


@pytest.mark.parametrize("dedup_functions_fully", [False, True])
def test_a_called_function_has_axes_from_what_is_passed(dedup_functions_fully: bool) -> None:
    explanation = sdy.explain(CALLS, dedup_functions_fully=dedup_functions_fully)
    (chain,) = explanation.why("%arg0", function="double").chains
    assert [arrival.name for arrival in chain.arrivals] == ["%arg0", "@double:%arg0"]
    assert chain.end.move is not None
    assert chain.end.move.op_name == "func.call"
    assert chain.end.move.direction == "forward"
    for name in ("%1", "@double:%0", "@double result 0"):
        (chain,) = explanation.why(name).chains
        assert chain.arrivals[0].name == "%arg0"
        assert all(arrival.value is not None for arrival in chain.arrivals)


def test_a_reshard_that_the_export_has_made_is_told_of() -> None:
    program = (
        function(
            '%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}, '
            "%y: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}",
            'tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}',
            "%0 = stablehlo.concatenate %x, %y, dim = 0 : "
            "(tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>\n"
            "return %0 : tensor<8xf32>",
        )
        .replace("-> tensor<8xf32> {sdy", "-> (tensor<8xf32> {sdy")
        .replace("{\n%0", ") {\n%0")
    )
    explanation = sdy.explain(program)
    reshards = [op for op in explanation.ops if op.name == "sdy.reshard"]
    assert reshards
    value = explanation.values[reshards[0].results[0]]
    why = explanation.why(value.spelling)
    assert why.chains == ()
    assert why.came_from is not None
    assert f"it is {why.came_from} in another sharding, for stablehlo.concatenate" in str(why)


def test_annotations_are_told_in_the_order_of_the_text() -> None:
    assert [annotation.text for annotation in sdy.explain(CONSTRAINED).annotations] == [
        "sharding constraint on %1"
    ]
    program = CONSTRAINED.replace(
        "%x: tensor<8x8xf32>",
        "%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}",
    )
    told = sdy.explain(program).annotations
    assert [(annotation.kind, annotation.origin) for annotation in told] == [
        ("argument", "input: 0"),
        ("constraint", "constraint_0"),
    ]
