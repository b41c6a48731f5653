"""`sdy.explain` is the function, whatever is imported, and costs nothing before it is called."""

from __future__ import annotations

import subprocess
import sys

import pytest

import sdy
from sdy.dialect.errors import ArgumentTypeError
from tests.unit.explain.programs import MLP

SCRIPT = """
import sys
import sdy
assert callable(sdy.explain)
assert not {"jax", "jaxlib", "rich"} & set(sys.modules)
import sdy.explain.explanation
from sdy.explain import program
assert callable(sdy.explain)
"""


def test_the_function_is_not_hidden_by_its_package() -> None:
    subprocess.run([sys.executable, "-c", SCRIPT], check=True)


def test_arguments_of_other_types_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="topology: expected a name"):
        sdy.explain(MLP, topology=3)  # type: ignore[arg-type]
    explanation = sdy.explain(MLP)
    with pytest.raises(ArgumentTypeError, match="other: expected an Explanation"):
        explanation.diff("%0")  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="suggestions: expected an int"):
        explanation.to_json(suggestions="all")  # type: ignore[arg-type]


def test_a_mesh_too_large_to_list_is_refused() -> None:
    text = MLP.replace('"data"=2', '"data"=9223372036854775807')
    with pytest.raises(sdy.Error, match="too large to list them"):
        _ = sdy.explain(text).totals
