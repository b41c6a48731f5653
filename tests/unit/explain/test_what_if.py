"""What would be if the program said more."""

from __future__ import annotations

import pytest

import sdy
from tests.unit.explain.programs import CONSTRAINED, LOOP, MLP, function


def changes(explanation: sdy.Explanation, other: sdy.Explanation) -> dict[str, str]:
    """Return the new shardings of the values that changed, by name."""
    return {c.after.name: str(c.after.sharding) for c in explanation.diff(other).changed}


def test_an_argument_is_annotated() -> None:
    explanation = sdy.explain(MLP)
    other = explanation.with_constraint("down", '<@mesh, [{"model"}, {"data"}]>')
    assert changes(explanation, other) == {
        "%arg2": 'sharding<@mesh, [{"model"}, {"data"}]>',
        "%2": 'sharding<@mesh, [{}, {"data"}]>',
        "@main result 0": 'sharding<@mesh, [{}, {"data"}]>',
    }
    (first,) = other.why("%arg2", 1).chains
    assert first.annotation is not None
    assert first.annotation.text == "argument %arg2 (down)"
    assert [c.after.name for c in explanation.diff(explanation).changed] == []


def test_a_value_gets_a_constraint_that_its_users_read() -> None:
    explanation = sdy.explain(MLP)
    other = explanation.with_constraint(explanation.value("%1"), '<@mesh, [{"data"}, {}]>')
    difference = explanation.diff(other)
    assert [value.name for value in difference.added] == ["%2"]
    assert difference.removed == ()
    (chain,) = other.why("%2", 0).chains
    assert chain.annotation is not None
    assert chain.annotation.text == "sharding constraint on %2"


def test_a_result_of_a_function_is_annotated() -> None:
    explanation = sdy.explain(MLP)
    other = explanation.with_constraint("@main result 0", '<@mesh, [{?}, {"model"}]>')
    assert changes(explanation, other)["@main result 0"] == (
        'sharding<@mesh, [{"data"}, {"model"}]>'
    )


def test_a_constraint_is_replaced() -> None:
    explanation = sdy.explain(CONSTRAINED)
    other = explanation.with_constraint("%1", '<@mesh, [{"model"}, {}]>')
    changed = changes(explanation, other)
    assert changed.keys() == {"%arg0", "@main result 0", "%0", "%1", "%2"}
    assert set(changed.values()) == {'sharding<@mesh, [{"model"}, {}]>'}


def test_a_value_in_a_loop_gets_a_constraint() -> None:
    explanation = sdy.explain(LOOP)
    (tanh,) = (op for op in explanation.ops if op.name == "stablehlo.tanh")
    other = explanation.with_constraint(explanation.values[tanh.results[0]], "<@mesh, [{}]>")
    assert [value.type for value in explanation.diff(other).added] == ["tensor<8xf32>"]


def test_what_does_not_fit_is_refused_and_nothing_changes() -> None:
    explanation = sdy.explain(MLP)
    with pytest.raises(sdy.Error, match="unknown mesh"):
        explanation.with_constraint("x", '<@other, [{"model"}, {}]>')
    with pytest.raises(sdy.Error):
        explanation.with_constraint("x", '<@mesh, [{"model"}]>')
    with pytest.raises(TypeError, match="sharding: expected"):
        explanation.with_constraint("x", 3)  # type: ignore[arg-type]
    assert explanation.diff(sdy.explain(MLP)).changed == ()


def test_programs_of_other_ops_are_compared_too() -> None:
    body = "%0 = stablehlo.{} %x : tensor<8xf32>\n{}return %0 : tensor<8xf32>"
    arguments = '%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}'
    first = function(arguments, "tensor<8xf32>", body.format("tanh", ""))
    second = function(
        arguments.replace("data", "model"), "tensor<8xf32>", body.format("negate", "")
    )
    difference = sdy.explain(first).diff(sdy.explain(second))
    assert [c.after.name for c in difference.changed] == ["%arg0", "@main result 0"]
    assert [v.name for v in difference.removed] == [v.name for v in difference.added] == ["%0"]
    assert str(difference).splitlines() == [
        "Values: 2 sharded in another way, 0 as before, 1 new, 1 gone",
        '  ~ %arg0: <@mesh, [{"data"}]> -> <@mesh, [{"model"}]>',
        '  ~ @main result 0: <@mesh, [{"data"}]> -> <@mesh, [{"model"}]>',
        "  + %0",
        "  - %0",
        "Communication in one run: 0 B -> 0 B",
        "Memory of one device, at most: 32 B -> 16 B",
    ]


def test_communication_that_changes_is_told_by_line() -> None:
    explanation = sdy.explain(MLP)
    other = explanation.with_constraint("up", "<@mesh, [{}, {}]>")
    difference = explanation.diff(other)
    before, after = difference.communication
    assert (before.count, after.count) == (1, 0)
    (line,) = difference.lines
    assert str(line.line) == "model.py:14 in layer"
    assert (line.before.bytes, line.after.bytes) == (before.bytes, 0)
    assert "  1.5 KiB -> 0 B  model.py:14 in layer" in str(difference)
