"""The drawing of which device holds which part of a value."""

from __future__ import annotations

import pytest

from tests.e2e.explain_page.browser import needs_chromium
from tests.e2e.explain_page.conftest import Opener
from tests.e2e.explain_page.documents import Draft

pytestmark = needs_chromium


@pytest.mark.parametrize(
    ("axes", "device_ids", "rows"),
    [
        ([["data"], ["model"]], (), [["0", "1", "2", "3"], ["4", "5", "6", "7"]]),
        ([["model", "data"], []], (), [["0"], ["4"], ["1"], ["5"], ["2"], ["6"], ["3"], ["7"]]),
        ([[], ["model:(1)2"]], (), [["0-1, 4-5", "2-3, 6-7"]]),
        ([["model:(2)2"], []], (), [["0, 2, 4, 6"], ["1, 3, 5, 7"]]),
        ([["data"], []], (7, 6, 5, 4, 3, 2, 1, 0), [["4-7"], ["0-3"]]),
        ([[], []], (), [["0-7"]]),
    ],
)
def test_the_drawing_says_which_device_holds_what(
    show: Opener, axes: list[list[str]], device_ids: tuple[int, ...], rows: list[list[str]]
) -> None:
    draft = Draft({"data": 2, "model": 4}, device_ids)
    x = draft.argument("x", [16, 32], axes)
    draft.op("func.return", [x], None)
    page = show(draft.document())
    page.click(".node.argument")
    table = page.locator("table.placement tr")
    cells = [row.locator("td:not(.corner)").all_inner_texts() for row in table.all()]
    assert [row for row in cells if row] == rows


def test_more_than_two_split_dimensions_have_several_drawings(show: Opener) -> None:
    draft = Draft({"x": 2, "y": 2, "z": 2})
    x = draft.argument("x", [4, 4, 4], [["x"], ["y"], ["z"]])
    draft.op("func.return", [x], None)
    page = show(draft.document())
    page.click(".node.argument")
    captions = page.locator("table.placement caption").all_inner_texts()
    assert captions == ["dim 0 0:2", "dim 0 2:4"]
    assert page.locator("table.placement").nth(1).locator("td:not(.corner)").all_inner_texts() == [
        "4",
        "5",
        "6",
        "7",
    ]
