"""The explanation as JSON: all that the text says is there, by index."""

from __future__ import annotations

import json
from typing import Any

import pytest

import sdy
from tests.corpus.jax_programs import PROGRAMS
from tests.unit.explain.programs import LOOP, MLP, function


def document(program: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(sdy.explain(program).to_json())
    return found


def chain(tables: dict[str, Any], value: int, dim: int, axis: str) -> list[dict[str, Any]]:
    """Return the arrivals of a chain, from the annotation on."""
    (at,) = (i for d, a, i in tables["why"][str(value)] if (d, a) == (dim, axis))
    arrivals = []
    while at is not None:
        arrivals.append(tables["arrivals"][at])
        at = arrivals[-1]["previous"]
    return arrivals[::-1]


def number_of(tables: dict[str, Any], spelling: str) -> int:
    (found,) = (i for i, v in enumerate(tables["values"]) if v["spelling"] == spelling)
    return found


def test_a_chain_is_followed_back_to_the_annotation() -> None:
    tables = document(MLP)
    assert tables["version"] == 1
    first, *_, last = chain(tables, number_of(tables, "%arg2"), 0, "model")
    annotation = tables["annotations"][first["annotation"]]
    assert annotation["text"] == "argument %arg1 (up)"
    assert tables["shardings"][annotation["sharding"]]["dimensions"][1] == {
        "axes": ["model"],
        "is_closed": True,
    }
    move = tables["moves"][last["move"]]
    assert (move["direction"], move["op_name"]) == ("sideways", "stablehlo.dot")
    assert tables["ops"][move["op"]]["name"] == "stablehlo.dot"
    assert tables["places"][move["place"]]["frames"][0] == {
        "file": "model.py",
        "line": 14,
        "column": 4,
        "function": "layer",
    }


def test_conflicts_are_told_with_who_won() -> None:
    tables = document(
        function(
            '%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", ?}, {?}]>}, '
            '%y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"data", ?}]>}',
            "tensor<8x8xf32>",
            "%0 = stablehlo.add %x, %y : tensor<8x8xf32>\nreturn %0 : tensor<8x8xf32>",
        )
    )
    (row,) = tables["why_not"][str(number_of(tables, "%0"))]
    (conflict,) = row["conflicts"]
    assert (row["dim"], conflict["reason"], conflict["axes"]) == (1, "axis used", ["data"])
    winner = tables["arrivals"][conflict["winner"]]
    assert (winner["name"], winner["dim"]) == ("%0", 0)
    assert "already splits dimension 0 of %0" in conflict["text"]


def test_ops_know_their_operands_and_regions() -> None:
    tables = document(LOOP)
    (loop,) = (op for op in tables["ops"] if op["name"] == "stablehlo.while")
    at = tables["ops"].index(loop)
    assert [tables["values"][v]["spelling"] for v in loop["operands"]] == ["%arg0", "%arg1"]
    assert len(loop["arguments"]) == 4
    assert {op["name"] for op in tables["ops"] if op["parent"] == at} == {
        "stablehlo.compare",
        "stablehlo.tanh",
        "stablehlo.return",
    }
    (main,) = tables["functions"]
    assert at in main["ops"]


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore::sdy.ShardingWarning")
def test_the_tables_say_what_the_answers_say(name: str) -> None:
    explanation = sdy.explain(PROGRAMS[name]())
    tables = json.loads(explanation.to_json())
    for value in explanation.values:
        told = tables["values"][value.number]
        assert (told["name"], told["function"]) == (value.name, value.function)
        why = explanation.why(value)
        for each in why.chains if value.op is None or why.came_from is None else ():
            axis = str(each.end.axis).replace('"', "")
            names = [a["name"] for a in chain(tables, value.number, each.end.dim, axis)]
            assert names == [arrival.name for arrival in each.arrivals]
            assert each.annotation is not None
    assert all(
        row["previous"] is None or row["previous"] < number
        for number, row in enumerate(tables["arrivals"])
    )
