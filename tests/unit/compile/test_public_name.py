"""`sdy.compile` is the function, whatever is imported, and costs nothing before it is called."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
import sdy
assert callable(sdy.compile)
assert not {"jax", "jaxlib"} & set(sys.modules)
import sdy.compile.executable
from sdy.compile import targets
assert callable(sdy.compile)
"""


def test_the_function_is_not_hidden_by_its_package() -> None:
    subprocess.run([sys.executable, "-c", SCRIPT], check=True)
