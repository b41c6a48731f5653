"""`sdy.explain` is the function, whatever is imported, and costs nothing before it is called."""

from __future__ import annotations

import subprocess
import sys

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
