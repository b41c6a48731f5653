"""The page as a file: one, whole, and without a way out of its data."""

from __future__ import annotations

import base64
import hashlib
import inspect
import json
import re
from pathlib import Path
from typing import Any

import pytest

from sdy.explain.html_page import html_page

ASSETS = Path(inspect.getfile(html_page)).with_name("page")

EMPTY: dict[str, Any] = {"ops": []}


def parts(page: str, tag: str) -> list[str]:
    return re.findall(rf"<{tag}(?: [^>]*)?>(.*?)</{tag}>", page, re.DOTALL)


def test_the_policy_allows_the_script_and_the_style_and_nothing_else() -> None:
    page = html_page(EMPTY)
    hashes = re.findall(r"'sha256-([^']+)'", page)
    [style] = parts(page, "style")
    _, script = parts(page, "script")
    expected = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (script, style)
    ]
    assert hashes == expected


def test_the_document_is_as_it_was_and_has_no_markup() -> None:
    document = {**EMPTY, "names": ["</script>", "<!--", "&amp;", "\u2028\u2029", "é", "\ud800"]}
    data, _ = parts(html_page(document), "script")
    assert json.loads(data) == document
    assert not set("<>&\u2028\u2029") & set(data)


def test_it_can_be_written_as_utf_8() -> None:
    assert html_page({**EMPTY, "names": ["\ud800"]}).encode("utf-8")


def test_a_number_that_json_does_not_have_is_an_error() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        html_page({**EMPTY, "bytes": float("inf")})


def test_it_names_no_address() -> None:
    addresses = set(re.findall(r"\w+://[^\s\"'<)]+", html_page(EMPTY)))
    assert addresses == {"http://www.w3.org/2000/svg"}, "the name of SVG's elements, not a place"


def test_every_part_is_on_the_page() -> None:
    page = html_page(EMPTY)
    for asset in ASSETS.iterdir():
        text = asset.read_text(encoding="utf-8")
        if asset.suffix != ".html":
            assert text in page, f"{asset.name} is left out"
        assert text.isascii() or asset.suffix == ".js"


def test_scripts_make_no_markup() -> None:
    for asset in ASSETS.glob("*.js"):
        text = asset.read_text(encoding="utf-8")
        assert not re.search(r"(inner|outer)HTML|insertAdjacentHTML|document\.write|\beval\b", text)
        assert not re.search(r"\bfetch\b|XMLHttpRequest|WebSocket|sendBeacon|\bimport\b", text)
