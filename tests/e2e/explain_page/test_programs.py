"""The page of real programs, as `sdy.explain` explains them."""

from __future__ import annotations

from typing import Any

import pytest

import sdy
from sdy.explain.explanation import Explanation
from sdy.explain.why import Chain
from tests.corpus.jax_programs import PROGRAMS, train_step
from tests.e2e.explain_page.browser import needs_chromium
from tests.e2e.explain_page.conftest import Opener

pytestmark = needs_chromium


def explain(text: str) -> Explanation:
    return sdy.explain(text)


def stations(explanation: Explanation, chain: Chain) -> str:
    """Return the values of a chain as the page lists them."""
    first, *others = chain.arrivals
    assert first.annotation is not None
    texts = [first.annotation.text]
    for arrival in others:
        assert arrival.value is not None
        value = explanation.values[arrival.value]
        texts.append(f"{f'{value.spelling} {value.label}'.strip()} dim {arrival.dim}")
    return " > ".join(texts)


def steps(chain: Any) -> str:
    """Return the same from the page."""
    first, *others = chain.locator("> li").all()
    texts = [step.locator(":scope > span").nth(1).inner_text().split(" by ")[0] for step in others]
    return " > ".join([first.locator("strong").inner_text(), *texts])


def test_the_chains_are_those_that_why_tells(show: Opener) -> None:
    explanation = explain(PROGRAMS["mlp_gradient"]())
    page = show(explanation.document())
    compared = 0
    for value in explanation.values[::4]:
        expected = {
            stations(explanation, chain) for chain in explanation.why(value.spelling).chains
        }
        if not expected:
            continue
        page.fill("#search", f"value:{value.spelling}")
        page.press("#search", "Enter")
        assert page.inner_text("#selected-name") == value.spelling
        for more in page.locator("button:has-text('more step')").all():
            more.click()
        shown = page.locator("#details details.dimension > .way > .chain")
        assert {steps(chain) for chain in shown.all()} == expected
        compared += 1
    assert compared > 5


@pytest.mark.slow
def test_a_train_step_of_96_layers_is_there_within_three_seconds(show: Opener) -> None:
    page = show(explain(train_step(96)).document())
    assert page.evaluate("performance.getEntriesByName('ready')[0].startTime") < 3000
    assert page.locator(".frame-head:has-text('step')").count()
