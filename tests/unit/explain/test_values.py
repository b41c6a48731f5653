"""Values by what they are called, where they come from, and that names are data."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec

import sdy
from sdy.explain.locations import Frame, Place, PlaceTexts
from sdy.explain.printable import printable
from tests.unit.explain.programs import LOOP, MLP, function


@pytest.mark.parametrize(
    ("name", "expected"),
    [("%0", "%0"), ("%arg0", "%arg0"), ("x", "%arg0"), ("@main result 0", "@main result 0")],
)
def test_values_have_names(name: str, expected: str) -> None:
    assert sdy.explain(MLP).value(name).spelling == expected


def test_names_are_those_of_shardings() -> None:
    explanation = sdy.explain(MLP)
    mine = [(value.name, value.type, value.sharding) for value in explanation.values]
    listed = [(v.name, v.type, v.sharding) for v in sdy.shardings(explanation.module)]
    assert mine == listed


def test_several_values_of_one_name_have_numbers() -> None:
    explanation = sdy.explain(LOOP)
    with pytest.raises(sdy.Error, match=r"'%iterArg_0' names 2 values; say which:\n  %iterArg_0/0"):
        explanation.value("%iterArg_0")
    assert explanation.value("%iterArg_0/1") == explanation.value("%iterArg_0", occurrence=1)
    for value in explanation.values:
        assert explanation.value(value.spelling) == value


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("%7", "no value '%7' in function @main; the values of the propagated program are"),
        ("dwn", "no value 'dwn' in function @main; did you mean 'down'"),
        ("@f:%0", "no function @f; the program's functions are: @main"),
        ("%0/3", "'%0' names 1 values, there is no occurrence 3"),
    ],
)
def test_unknown_names_are_told(name: str, message: str) -> None:
    with pytest.raises(sdy.Error) as caught:
        sdy.explain(MLP).why(name)
    assert message in str(caught.value)


def test_unknown_dimensions_and_axes_are_told() -> None:
    explanation = sdy.explain(MLP)
    with pytest.raises(sdy.Error, match="%0 has 2 dimensions, no dimension 2"):
        explanation.why("%0", 2)
    with pytest.raises(sdy.Error, match="no axis 'modle'; did you mean 'model'"):
        explanation.why("%0", 1, "modle")
    with pytest.raises(TypeError, match="dim: expected an int, got str"):
        explanation.why("%0", "1")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="value: expected the name of a value"):
        explanation.why(0)  # type: ignore[arg-type]


def test_locations_of_all_kinds_are_read() -> None:
    program = function(
        '%x: tensor<8xf32> loc("x"("f.py":1:2))',
        "tensor<8xf32>",
        """
  %0 = stablehlo.tanh %x : tensor<8xf32> loc(fused[unknown, "a.py":1:2, "b.py":3:4])
  %1 = stablehlo.tanh %0 : tensor<8xf32> loc("op"(callsite("g"("a.py":5:6) at
    callsite("f"("b.py":7:8) at "main"("c.py":9:10)))))
  %2 = stablehlo.tanh %1 : tensor<8xf32> loc(unknown)
  return %2 : tensor<8xf32>""",
    )
    explanation = sdy.explain(program)
    places = {op.results: op.place for op in explanation.ops if op.results}
    first, second, third = places.values()
    assert first == Place("", (Frame("a.py", 1, 2),))
    assert second == Place(
        "op", (Frame("a.py", 5, 6, "g"), Frame("b.py", 7, 8, "f"), Frame("c.py", 9, 10, "main"))
    )
    assert third == Place()
    assert explanation.value("%arg0").place == Place("x", (Frame("f.py", 1, 2),))


def test_places_are_told_by_the_shortest_end_of_a_path_that_is_their_own() -> None:
    places = [
        Place("", (Frame("/home/a/model.py", 3, 1, "f.<locals>.g"),)),
        Place("", (Frame("/home/b/model.py", 4, 1),)),
        Place("", (Frame("/home/b/train.py", 5, 1, "main"),)),
        Place("x"),
    ]
    texts = PlaceTexts(places)
    assert [texts.text(place) for place in places] == [
        "a/model.py:3 in g",
        "b/model.py:4",
        "train.py:5 in main",
        "",
    ]


def test_names_with_control_characters_are_shown_with_escapes() -> None:
    assert printable("a\x1b[31mb\n") == r"a\x1b[31mb\n"
    assert printable("Größe") == "Größe"
    program = function(
        '%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>} loc("a\\1B[31m\\0A")',
        "tensor<8xf32>",
        '%0 = stablehlo.tanh %x : tensor<8xf32> loc("f\\1B"("m\\1B.py":1:2))\n'
        "return %0 : tensor<8xf32>",
    )
    explanation = sdy.explain(program)
    assert explanation.value("%arg0").label == "a\x1b[31m\n"
    for text in (str(explanation.why("%0")), str(explanation)):
        assert "\x1b" not in text
        assert r"a\x1b[31m\n" in text
    assert r"m\x1b.py:1" in str(explanation.why("%0"))


def test_names_that_are_not_utf8_are_shown_with_escapes() -> None:
    program = function(
        '%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>} loc("a\\FF")',
        "tensor<8xf32>",
        '%0 = stablehlo.tanh %x : tensor<8xf32> loc("\\FE"("\\FD":1:2))\nreturn %0 : tensor<8xf32>',
    )
    explanation = sdy.explain(program)
    assert explanation.value("%arg0").label == "a\\FF"
    assert explanation.to_json().isascii()


def test_a_program_without_functions_has_nothing_to_explain() -> None:
    explanation = sdy.explain('sdy.mesh @mesh = <["x"=2]>')
    assert explanation.values == ()
    assert explanation.annotations == ()
    assert "0 ops" in str(explanation)


@pytest.mark.filterwarnings("ignore:.*a nested module is left as it is")
def test_nested_modules_and_tokens_are_passed_over() -> None:
    explanation = sdy.explain("""
sdy.mesh @mesh = <["x"=2]>
module @inner {
  sdy.mesh @mesh = <["y"=2]>
  func.func @f(
      %x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}
func.func @main(
    %x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %t: !stablehlo.token)
    -> (tensor<8xf32>, !stablehlo.token) {
  return %x, %t : tensor<8xf32>, !stablehlo.token
}
""")
    assert [value.name for value in explanation.values] == [
        "%arg0",
        "%arg1",
        "@main result 0",
        "@main result 1",
    ]
    assert "it has no dimensions to split" in str(explanation.why("%arg1"))
    assert explanation.to_json()


def test_what_is_wrong_is_located() -> None:
    with pytest.raises(sdy.DiagnosticError, match="2:6: error: Shardy propagation"):
        sdy.explain(
            "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
            "%0 = stablehlo.tanh %x : tensor<?xf32>\nreturn %0 : tensor<?xf32> }"
        )


def test_what_jax_lowers_keeps_its_names_and_lines() -> None:
    mesh = AbstractMesh((2, 4), ("data", "model"), (AxisType.Auto,) * 2)
    sharding = NamedSharding(mesh, PartitionSpec(None, "model"))
    params = {"w": jax.ShapeDtypeStruct((32, 64), jnp.float32, sharding=sharding)}
    x = jax.ShapeDtypeStruct((16, 32), jnp.float32)
    lowered = jax.jit(layer).trace(params, x).lower(lowering_platforms=("cpu",))
    explanation = sdy.explain(lowered)
    (chain,) = explanation.why("result", 1).chains
    assert (chain.arrivals[0].label, chain.end.label) == ("params['w']", "result")
    move = chain.arrivals[1].move
    assert move is not None
    assert move.place.label == "jit(layer)/dot_general"
    frame = move.place.frames[0]
    assert (frame.file, frame.function) == (__file__, "layer")
    assert 'params["w"]' in Path(frame.file).read_text().splitlines()[frame.line - 1]


def layer(params: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    return jnp.tanh(x @ params["w"])
