"""The page of an explanation in a browser: what it shows, and that it shows it soon."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.e2e.explain_page.browser import needs_chromium
from tests.e2e.explain_page.conftest import Opener
from tests.e2e.explain_page.documents import Draft, perceptron, tower

pytestmark = needs_chromium

PHONE = (390, 844)

TIMES = "\N{MULTIPLICATION SIGN}"


def search(page: Any, query: str) -> list[str]:
    page.fill("#search", query)
    return [option.split()[0] for option in page.locator("#hits [role=option]").all_inner_texts()]


def select(page: Any, query: str) -> None:
    page.fill("#search", query)
    page.press("#search", "Enter")


def test_twenty_thousand_ops_are_there_within_three_seconds(show: Opener) -> None:
    document = tower(2000).document()
    assert len(document["ops"]) > 20_000
    page = show(document)
    ready = page.evaluate("performance.getEntriesByName('ready')[0].startTime")
    assert ready < 3000
    page.click("#open-all")
    page.wait_for_selector("text=turn 1 of 2000")
    assert page.locator(".canvas .node").count() < 300, "only what is near the window is drawn"
    select(page, "%19999")
    assert page.inner_text("#selected-name") == "%19999"
    assert page.locator(".node.selected").is_visible()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("%arg1", ["%arg1"]),
        ("weights[1]", ["%arg2"]),
        ("dot_general", ["%0", "%2"]),
        ("op:stablehlo.tanh", ["%1"]),
        ("model.py:13", ["%1"]),
        ("line:model.py:12 axis:model", ["%0"]),
        ("all-gather", ["%1"]),
        ("kind:all-reduce", ["%2"]),
        ("value:nothing", []),
    ],
)
def test_search(show: Opener, query: str, found: list[str]) -> None:
    page = show(perceptron().document())
    assert search(page, query) == found
    if found:
        page.press("#search", "Enter")
        assert page.inner_text("#selected-name") == found[0]
        assert page.locator(".node.selected").is_visible()
        assert page.locator("#hits").is_hidden()


def test_why_goes_from_the_annotation_to_the_value(show: Opener) -> None:
    page = show(perceptron().document())
    page.click(".node:has-text('tanh')")
    dims = page.locator("details.dimension")
    assert dims.count() == 2
    steps = dims.nth(1).locator(".chain > li").all_inner_texts()
    assert [step.split("\n")[1] for step in steps[1:]] == [
        "%0 dim 1 by dot_general",
        "%1 dim 1 by tanh",
    ]
    assert "argument %arg1 (weights[0])" in steps[0]
    assert "model.py:12 in layer" in steps[1]
    assert "model.py:13 in layer" in steps[2]
    assert "forward" in steps[2]
    assert "op priority 1, aggressive" in steps[2]
    dims.nth(1).locator("button:has-text('%0')").click()
    assert page.inner_text("#selected-name") == "%0"


def test_a_long_chain_opens(show: Opener) -> None:
    page = show(tower(3).document())
    select(page, "%28")
    chain = page.locator("details.dimension").first.locator(".chain").first
    assert chain.locator("> li").count() == 9
    chain.locator("button:has-text('more step')").click()
    steps = chain.locator("> li").all_inner_texts()
    assert len(steps) > 9
    assert "argument %arg0 (x)" in steps[0]
    assert "%28" in steps[-1]


def test_why_not_says_what_was_tried_and_who_won(show: Opener) -> None:
    draft = perceptron()
    closed = len(draft.tables["annotations"])
    draft.tables["annotations"].append({**draft.tables["annotations"][0], "text": "argument %arg9"})
    draft.why_not["0"] = [
        {
            "dim": 1,
            "closed_by": closed,
            "conflicts": [
                {
                    "op": 0,
                    "op_name": "stablehlo.dot_general",
                    "place": draft.tables["ops"][0]["place"],
                    "factor": "k",
                    "axes": ["model"],
                    "source": 1,
                    "source_name": "%arg1",
                    "reason": "axis used",
                    "winner": draft.why["1"][0][2],
                    "annotation": None,
                    "text": "model splits another dimension already.",
                }
            ],
        }
    ]
    page = show(draft.document())
    select(page, "%arg0")
    text = page.locator("details.dimension").nth(1).inner_text()
    assert "Closed by argument %arg9" in text
    assert "model axis used at dot_general" in " ".join(text.split())
    assert "model splits another dimension already." in text
    assert "offered by" in text
    assert "%arg1 weights[0]" in text
    page.click("text=How the winner has the axis")
    assert page.is_visible(".conflicts .chain >> text=argument %arg1 (weights[0])")


def test_communication_is_on_the_graph_and_totalled(show: Opener) -> None:
    page = show(perceptron().document(topology="v5e:2x4"))
    badges = page.locator(".canvas .node .badge").all_inner_texts()
    assert sorted(badges) == ["Σ all-reduce 768 B", "⇉ all-gather 4.0 KiB"]
    assert page.locator("path.moved").count() == 1
    page.click("role=tab[name=Communication]")
    view = page.locator("#communication")
    assert "each device sends 4.8 KiB in 2 collectives, 7.00 µs on v5e:2x4" in view.inner_text()
    rows = view.locator(".bars .bar-row").all_inner_texts()
    assert [" ".join(row.split()) for row in rows] == [
        f"⇉ all-gather 4.0 KiB · 1{TIMES} · 5.00 µs",
        f"Σ all-reduce 768 B · 1{TIMES} · 2.00 µs",
        f"data 4.0 KiB · 1{TIMES} · 5.00 µs",
        f"model 768 B · 1{TIMES} · 2.00 µs",
    ]


def test_the_table_of_lines_sorts_opens_and_filters(show: Opener) -> None:
    draft = tower(4)
    draft.communicate(1, 1, "collective-permute", ["data"], 100, times=3)
    page = show(draft.document())
    page.click("role=tab[name=Communication]")
    lines = page.locator(".data tr.opens td:first-child .mono")
    assert lines.all_inner_texts() == ["model.py:60", "model.py:40"]
    by_count = page.locator("role=columnheader[name=/Count/]")
    by_count.locator("button").click()
    by_count.locator("button").click()
    assert by_count.get_attribute("aria-sort") == "ascending"
    assert lines.all_inner_texts() == ["model.py:40", "model.py:60"]
    page.click(".opener >> nth=0")
    assert f"collective-permute data 100 B {TIMES} 3" in " ".join(
        page.inner_text(".points").split()
    )
    page.click(".bar-row:has-text('collective-permute')")
    assert lines.all_inner_texts() == ["model.py:40"]
    assert "sends 300 B in 3 collectives" in page.inner_text("#communication .lead")


def test_memory_warnings_and_suggestions(show: Opener) -> None:
    draft = perceptron()
    draft.communicate(
        0, 0, "all-gather", ["data"], 2048, rematerializes=True, reason="reshard", seconds=1e-6
    )
    draft.tables["suggestions"].append(
        {
            "value": 4,
            "sharding": draft.sharding([["data"], []], is_closed=True),
            "for": draft.tables["communication"][0]["place"],
            "bytes_before": 5000,
            "bytes_after": 904,
            "seconds_before": 5e-6,
            "seconds_after": 1e-6,
            "rematerializations_before": 1,
            "rematerializations_after": 0,
            "text": "annotate it",
        }
    )
    page = show(draft.document())
    page.click("role=tab[name=/Memory/]")
    assert "At most 3.0 MiB are alive at once, at dot_general %0" in page.inner_text(
        "#memory .lead"
    )
    assert "%arg" in page.inner_text("#memory .data")
    page.click("role=tab[name=/Advice/]")
    text = page.inner_text("#advice")
    assert "1 FULL REMATERIALIZATION" in text
    assert "involuntary full rematerialization" in text
    assert "A device sends 4.0 KiB less, and 1 full rematerialization less." in text
    assert 'jax.lax.with_sharding_constraint(x, P("data", None))' in text
    page.click("#advice .suggestion >> text=%1")
    assert page.inner_text("#selected-name") == "%1"


def test_a_suggestion_of_several_values_that_takes_annotations_off(show: Opener) -> None:
    draft = Draft({"model": 2})
    values = [draft.argument(f"w[{i}]", [8, 8], [["model"], []]) for i in range(5)]
    draft.tables["suggestions"].append(
        {
            "value": values[0],
            "values": values,
            "sharding": draft.sharding([[], []]),
            "bytes_before": 5000,
            "bytes_after": 904,
            "text": "take them off",
        }
    )
    page = show(draft.document())
    page.click("role=tab[name=/Advice/]")
    text = page.inner_text("#advice .suggestion")
    assert text.startswith("Take the annotation off ")
    assert "and 2 more that are alike" in text
    assert "sharding<" not in text
    page.click("#advice .suggestion >> text=w[1]")
    assert page.inner_text("#selected-name") == "%arg1"


def looped() -> Draft:
    draft = Draft({"data": 2})
    x = draft.argument("x", [8, 8], [["data"], []])
    loop = draft.op("stablehlo.while", [x], [8, 8], [["data"], []])
    turn = draft.inner_argument(loop, [8, 8], [["data"], []])
    test = draft.op("stablehlo.compare", [turn], [], [], parent=loop)
    draft.op("stablehlo.return", [draft.output(test)], None, parent=loop)
    body = draft.op("stablehlo.cosine", [turn], [8, 8], [["data"], []], parent=loop)
    draft.op("stablehlo.return", [draft.output(body)], None, parent=loop)
    call = draft.op("func.call", [draft.output(loop)], [8, 8], [["data"], []], target="helper")
    draft.op("func.return", [draft.output(call)], None)
    draft.result(draft.output(call))
    draft.begin("helper")
    y = draft.argument("y", [8, 8], [["data"], []])
    sine = draft.op("stablehlo.sine", [y], [8, 8], [["data"], []])
    draft.op("func.return", [draft.output(sine)], None)
    return draft


def test_functions_and_loops_fold(show: Opener) -> None:
    page = show(looped().document())
    body = page.locator(".node:has-text('cosine')")
    assert body.is_visible()
    assert page.locator(".frame-head .name").all_inner_texts() == [
        "@main",
        "while",
        "condition",
        "body",
    ]
    page.click(".frame-head:has-text('while')")
    assert body.count() == 0
    assert page.locator(".node.group:has-text('while')").is_visible()
    select(page, "op:cosine")
    assert body.is_visible()
    assert page.locator(".node:has(.name:text-is('sine'))").count() == 0
    page.select_option("select[aria-label^='Go to']", label="@helper · 2 ops")
    assert page.locator(".node:has(.name:text-is('sine'))").is_visible()
    page.click(".frame-head:has-text('@helper')")
    select(page, "op:func.call")
    page.click("text=Go to @helper")
    assert page.locator(".node:has(.name:text-is('sine'))").is_visible()
    page.click("#close-all")
    assert page.locator(".node.group:has-text('@helper')").is_visible()


def test_it_works_by_the_keyboard_alone(show: Opener) -> None:
    page = show(perceptron().document())
    page.keyboard.press("/")
    page.keyboard.type("dot_general")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.inner_text("#selected-name") == "%2"
    page.locator("#search").blur()
    page.keyboard.press("2")
    assert page.is_visible("#communication")
    page.keyboard.press("1")
    page.locator(".node.selected").focus()
    page.keyboard.press("ArrowUp")
    assert page.inner_text("#selected-name") in {"%1", "%arg2"}
    page.keyboard.press("n")
    assert page.inner_text("#selected-name") == "%2"
    page.keyboard.press("p")
    assert page.inner_text("#selected-name") == "%1"
    page.keyboard.press("Escape")
    assert page.locator("#selected-name").count() == 0
    page.locator(".frame-head:has-text('@main')").focus()
    page.keyboard.press("Enter")
    assert page.locator(".node.op").count() == 0
    assert page.evaluate("document.activeElement.textContent").startswith("▸ @main")
    page.keyboard.press("Enter")
    assert page.locator(".node.op").count() > 0
    page.keyboard.press("?")
    assert page.is_visible("#help >> text=next and previous op that talks")
    page.keyboard.press("Escape")
    assert page.locator("#help").is_hidden()


def test_all_that_can_be_pressed_has_a_name(show: Opener) -> None:
    page = show(perceptron().document())
    page.click(".node:has-text('tanh')")
    for view in ("Communication", "Memory", "Advice"):
        page.click(f"role=tab[name=/{view}/]")
    nameless = page.evaluate(
        "[...document.querySelectorAll('button, input, select')].filter(made =>"
        " !(made.textContent.trim() || made.getAttribute('aria-label'))).length"
    )
    assert nameless == 0


def test_at_phone_width_nothing_is_cut_off(show: Opener) -> None:
    page = show(tower(3).document(), size=PHONE)
    nodes = page.locator(".canvas .node").all()
    assert nodes
    for node in nodes:
        box = node.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE[0]
    select(page, "%12")
    sheet = page.locator("#details").bounding_box()
    assert sheet["width"] == PHONE[0]
    node = page.locator(".node.selected").bounding_box()
    assert node["y"] + node["height"] <= sheet["y"], "the sheet does not hide what it explains"
    for view in ("Communication", "Memory", "Advice", "Program"):
        page.click(f"role=tab[name=/{view}/]")
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= PHONE[0], f"{view} scrolls sideways"
        assert page.locator("#details").is_hidden(), f"the sheet lies over {view}"
    page.click(".node.selected")
    page.click("role=button[name=Close]")
    assert page.locator("#details").is_hidden()


def luminance(page: Any) -> float:
    red, green, blue = page.evaluate(
        "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    )
    return float(red + green + blue) / 765


def test_light_and_dark(show: Opener) -> None:
    document = perceptron().document()
    assert luminance(show(document, scheme="light")) > 0.8
    page = show(document, scheme="dark")
    assert luminance(page) < 0.2
    page.click("role=button[name=Light]")
    assert luminance(page) > 0.8
    assert page.is_visible("role=button[name=Dark]")


def test_the_address_names_what_is_selected(show: Opener) -> None:
    document = perceptron().document()
    page = show(document, address="#%arg1")
    assert page.inner_text("#selected-name") == "%arg1"
    page.click(".node:has-text('tanh')")
    assert page.evaluate("location.hash") == "#%1"


def test_edges_have_a_strand_for_each_axis(show: Opener) -> None:
    page = show(perceptron().document())
    strands = page.evaluate(
        "[...document.querySelectorAll('.strand')].map(made => made.getAttribute('class'))"
    )
    # x, weights twice; %0 and %1 have two axes each; what main returns has one.
    assert sum("axis-0" in strand for strand in strands) == 4
    assert sum("axis-1" in strand for strand in strands) == 4
    colours = [
        page.evaluate(
            f"getComputedStyle(document.documentElement).getPropertyValue('--axis-{n}').trim()"
        )
        for n in range(8)
    ]
    assert len(set(colours)) == len(colours)


def test_ops_stand_below_what_they_use(show: Opener) -> None:
    page = show(tower(2).document())
    page.click("#open-all")
    tops = {
        name: page.locator(f".node:has(.value:text-is('%{name}'))").bounding_box()["y"]
        for name in range(10)
    }
    for above, below in pairwise(range(9)):
        assert tops[above] < tops[below]
