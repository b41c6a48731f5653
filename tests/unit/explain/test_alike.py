"""Annotated values that only numbers tell apart."""

from __future__ import annotations

import sdy
from sdy.explain.alike import alike, common_name, group_text
from tests.unit.explain.programs import MESH

_SAID = 'sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>'
_OTHER = 'sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>'


def _groups(arguments: dict[str, str], name: str) -> list[list[str]]:
    """Return the labels of the groups around an argument, of which labels and shardings are given.

    Raises:
      Error: where there is no such argument.

    """
    told = ", ".join(
        f'%a{i}: tensor<8xf32> {{{said}}} loc("{label}")'
        for i, (label, said) in enumerate(arguments.items())
    )
    explained = sdy.explain(f"{MESH}\nfunc.func @main({told}) {{\n  return\n}}")
    found = alike(explained.program, explained.annotations, explained.value(name))
    return [[value.label for value in group] for group in found]


def test_the_first_numbers_vary_first() -> None:
    labels = ["p[0]['w1']", "p[0]['w2']", "p[1]['w1']", "p[1]['w2']"]
    groups = _groups(dict.fromkeys(labels, _SAID), "p[0]['w1']")
    assert groups == [["p[0]['w1']", "p[1]['w1']"], labels]


def test_other_shardings_and_other_words_are_not_alike() -> None:
    arguments = {"p[0]": _SAID, "p[1]": _OTHER, "q[2]": _SAID, "x": _SAID}
    assert _groups(arguments, "p[0]") == []
    assert _groups(arguments, "x") == []


def test_arguments_without_labels_are_not_alike() -> None:
    told = f"%a: tensor<8xf32> {{{_SAID}}}, %b: tensor<8xf32> {{{_SAID}}}"
    explained = sdy.explain(f"{MESH}\nfunc.func @main({told}) {{\n  return\n}}")
    found = alike(explained.program, explained.annotations, explained.value("%arg0"))
    assert list(found) == []


def test_constraints_of_one_line_are_alike() -> None:
    lines = "\n".join(
        f'  %c{i} = sdy.sharding_constraint %x <@mesh, [{{"model"}}]> : tensor<8xf32> '
        f'loc("m.py":{line}:1)'
        for i, line in enumerate((7, 7, 8))
    )
    results = "tensor<8xf32>, tensor<8xf32>, tensor<8xf32>"
    explained = sdy.explain(
        f"{MESH}\nfunc.func @main(%x: tensor<8xf32>) -> ({results}) {{\n{lines}\n"
        f"  return %c0, %c1, %c2 : {results}\n}}"
    )
    first = next(v for v in explained.values if v.op is not None)
    (group,) = alike(explained.program, explained.annotations, first)
    assert [value.place.frames[0].line for value in group] == [7, 7]
    assert group_text(group) == "%0, %1 (2 values)"


def test_numbers_that_differ_are_stars() -> None:
    assert common_name(["p[0]['w2']", "p[13]['w2']"]) == "p[*]['w2']"
