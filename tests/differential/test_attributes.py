"""MLIR with jaxlib's sdy dialect and our parser and verifier agree on every attribute.

Each text stands in a module: as the mesh of a mesh op, on an argument, a result or an op, as the
rule of an op, as the axes of a manual computation. Both accept it and print it alike, or both
refuse it. Three faults of MLIR are not ours: it lets products overflow in 64 bits (numbers are
small here), it counts brackets in comments (there are none here), and it ignores what stands
between the end of an attribute and its last bracket.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import sdy.dialect
from sdy.dialect.errors import Error
from tests.differential.attribute_texts import Case, cases

ROOT = Path(sdy.dialect.__file__).parents[2]
CHILD = Path(__file__).with_name("attributes_in_mlir.py")


def printed_by_mlir(some: list[tuple[str, str]]) -> list[str | None]:
    """Return for each attribute, and module with it, how MLIR prints it; None if it is refused."""
    done = subprocess.run(
        [sys.executable, str(CHILD)],
        input=json.dumps(some),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    printed: list[str | None] = json.loads(done.stdout)
    return printed


def printed_by_us(case: Case) -> str | None:
    try:
        return case.ours()
    except Error:
        return None


def without_ignored_ends(texts: list[tuple[str, str]]) -> set[str]:
    """Return the texts, each with what MLIR prints for it, all of which MLIR reads.

    It does not if it reads the same attribute when something is cut off the end.
    """
    shorter = [
        (text, printed, text.rstrip().removesuffix(">").rstrip()[:-cut] + close)
        for text, printed in texts
        for cut in range(1, len(text))
        for close in ("", ">")
    ]
    found = printed_by_mlir([(attribute, "") for *_, attribute in shorter])
    ignored = {
        text for (text, printed, _), other in zip(shorter, found, strict=True) if other == printed
    }
    return {text for text, _ in texts} - ignored


@pytest.mark.parametrize("seed", range(3))
def test_ours_and_mlir_accept_the_same_attributes(seed: int) -> None:
    some = cases(seed, 4000)
    expected = printed_by_mlir([(case.text, case.module) for case in some])
    accepted = Counter(case.kind for case, text in zip(some, expected, strict=True) if text)
    refused = Counter(case.kind for case, text in zip(some, expected, strict=True) if not text)
    assert min(accepted.values()) > 100
    assert min(refused.values()) > 100
    ours = [printed_by_us(case) for case in some]
    refused_by_us = [
        (case.text, text)
        for case, text, mine in zip(some, expected, ours, strict=True)
        if text is not None and mine is None
    ]
    wrongly_refused = without_ignored_ends(refused_by_us)
    differences = [
        f"{case.kind}: {case.text}\n  mlir: {text}\n  ours: {mine}"
        for case, text, mine in zip(some, expected, ours, strict=True)
        if mine != text and (mine is not None or case.text in wrongly_refused)
    ]
    assert not differences, "\n".join(differences[:10])
