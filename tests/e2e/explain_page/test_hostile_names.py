"""Names in a program are data: whatever they say shows as text, and nothing of it runs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.e2e.explain_page.browser import needs_chromium
from tests.e2e.explain_page.conftest import Opener
from tests.e2e.explain_page.documents import Draft

pytestmark = needs_chromium

NAMES = [
    "</script><script>window.ran = true</script>",
    "<!--<script>",
    "<img src=x onerror='window.ran = true'>",
    '"><svg onload=window.ran=true>',
    "javascript:window.ran=true",
    "${window.ran = true}",
    "\u2028\u2029window.ran=true//",
    "]]>&lt;&amp;\\u003c",
    "\u202eright to left\u202c",
    "__proto__",
]


def everywhere(name: str) -> dict[str, Any]:
    """Return a document that has a name wherever a program can put one."""
    draft = Draft({name: 2, "other": 2})
    draft.mesh = name
    place = draft.place(f"jit({name})/{name}/{name}", (name, 12, name), (name, 3, name))
    draft.tables["functions"][0]["name"] = draft.function = name
    x = draft.argument(name, [8, 8], [[name], []])
    first = draft.op(name, [x], [8, 8], [[name], ["other"]], place=place, label=name, target=name)
    second = draft.op(name, [draft.output(first)], [8, 8], [[name], []], place=place, label=name)
    third = draft.op(name, [draft.output(second)], [8, 8], [[name], []], place=place)
    draft.op("func.return", [draft.output(third)], None)
    draft.result(draft.output(third))
    draft.communicate(first, x, name, [name], 64, reason=name, rematerializes=True)
    for annotation in draft.tables["annotations"]:
        annotation["text"] = name
    for row in draft.tables["values"]:
        row.update(type=name, element_type=name)
    conflict = {
        "op": first,
        "op_name": name,
        "place": place,
        "factor": name,
        "axes": [name],
        "source": x,
        "source_name": name,
        "reason": name,
        "winner": None,
        "annotation": None,
        "text": name,
    }
    draft.why_not[str(x)] = [{"dim": 1, "closed_by": 0, "conflicts": [conflict]}]
    suggestion = {
        "value": x,
        "sharding": 0,
        "for": place,
        "bytes_before": 8,
        "bytes_after": 4,
        "text": name,
    }
    return draft.document(topology=name, suggestions=[suggestion])


def shape_of(page: Any) -> str:
    """Return what elements there are and which attributes they have; not what is in them."""
    return str(
        page.evaluate(
            "[...document.querySelectorAll('*')].map(made =>"
            " made.tagName + ':' + [...made.attributes].map(a => a.name).sort()).sort().join(' ')"
        )
    )


def go_everywhere(page: Any) -> str:
    """Open all that the page can show; return its text."""
    texts = []
    page.click("#open-all")
    page.locator(".node.argument").click()
    texts.append(page.inner_text("body"))
    page.locator(".node.op").first.click()
    for view in ("Communication", "Memory", "Advice", "Program"):
        page.click(f"role=tab[name=/{view}/]")
        for opener in page.locator(".opener[aria-expanded=false]").all():
            if opener.is_visible():
                opener.click()
        texts.append(page.inner_text("body"))
    page.fill("#search", "12")
    texts.append(page.inner_text("#hits"))
    page.press("#search", "Escape")
    return "\n".join(texts)


@pytest.mark.parametrize("name", NAMES)
def test_names_are_text(show: Opener, name: str) -> None:
    page = show(everywhere(name))
    text = go_everywhere(page)
    assert page.evaluate("window.ran") is None
    visible = " ".join(name.split()).strip()
    assert visible.lower() in " ".join(text.split()).lower()
    assert page.locator("img, iframe, object, embed, base, [onload], [onerror]").count() == 0
    assert page.locator("script").count() == 2
    plain = show(everywhere("n" * len(name)))
    go_everywhere(plain)
    assert shape_of(page) == shape_of(plain), "a name changes no element"


def test_the_browser_itself_would_not_run_it(show: Opener) -> None:
    document = everywhere("x")
    page = show(document, refused="requires 'TrustedHTML'")
    refused = page.evaluate(
        "(() => { try { document.body.innerHTML = '<b>x</b>'; return false; }"
        " catch (error) { return error instanceof TypeError; } })()"
    )
    assert refused
    policy = page.get_attribute("meta[http-equiv=Content-Security-Policy]", "content")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert json.loads(page.evaluate("document.getElementById('document').textContent")) == document
