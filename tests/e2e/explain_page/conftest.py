"""A browser for the tests of the page, which says what the page must not do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sdy.explain.html_page import html_page
from tests.e2e.explain_page.browser import ARGUMENTS, CHROMIUM

Opener = Callable[..., Any]

_WAIT_MS = 10_000


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    assert CHROMIUM, "Chromium is missing: apt-get install chromium"
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield launched
        launched.close()


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Opener]:
    """Open a document's page; fail if it asks for anything else, or has an error.

    `refused` is what the browser is to say where a test itself does what the page must not do.
    """
    troubles: list[str] = []
    contexts: list[Any] = []

    def open_page(
        document: dict[str, Any],
        *,
        size: tuple[int, int] = (1280, 800),
        scheme: str = "light",
        address: str = "",
        refused: str | None = None,
    ) -> Any:
        file = tmp_path / "page.html"
        file.write_text(html_page(document), encoding="utf-8")
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=scheme
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(_WAIT_MS)

        def note(trouble: str) -> None:
            if refused is None or refused not in trouble:
                troubles.append(trouble)

        def guard(route: Any) -> None:
            if route.request.url.partition("#")[0] == file.as_uri():
                route.continue_()
            else:
                note(f"request of {route.request.url}")
                route.abort()

        page.route("**/*", guard)
        page.on("console", lambda message: note(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: note(f"error: {error}"))
        page.on("dialog", lambda dialog: note(f"dialog: {dialog.message}"))
        page.goto(file.as_uri() + address)
        page.wait_for_selector("html[data-ready]", state="attached")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not troubles, troubles
