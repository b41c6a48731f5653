"""From what JAX lowers to what is exported: after every pass the reference's text.

The programs of the corpus, and the demo's, go through import passes, propagation and export
passes. What one pass leaves is what the next one meets, the order of uses included.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from sdy.tools.demo_model import Size, lower_train_step
from tests.corpus.jax_programs import PROGRAMS
from tests.differential.comparison import ours
from tests.differential.pass_lists import EXPORT, IMPORT
from tests.differential.reference import Reference

PASSES = (*IMPORT, "sdy-user-priority-propagate", *EXPORT)
PIPELINES = (
    "builtin.module(sdy-import-pipeline)",
    "builtin.module(sdy-import-pipeline{dedup-functions-fully=true})",
)


@cache
def demo() -> str:
    lowered = lower_train_step(Size()).compiler_ir("stablehlo")
    return str(lowered.operation.get_asm(enable_debug_info=True))


BUILDERS: dict[str, Callable[[], str]] = {"demo": demo, **PROGRAMS}


@pytest.mark.parametrize("name", BUILDERS)
def test_every_pass(name: str, reference: Reference) -> None:
    program = BUILDERS[name]()
    for count in range(1, len(PASSES) + 1):
        pipeline = f"builtin.module({','.join(PASSES[:count])})"
        expected = reference.run(program, pipeline)
        answer = ours(program, pipeline)
        assert not expected.error, pipeline
        assert answer.text == expected.text, pipeline
        if count <= len(IMPORT):
            assert answer.uses == expected.uses, pipeline


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("name", BUILDERS)
def test_whole_pipelines(name: str, pipeline: str, reference: Reference) -> None:
    program = BUILDERS[name]()
    assert ours(program, pipeline).text == reference.run(program, pipeline).text
