"""From what JAX lowers to what is exported: after every pass the reference's text.

The programs of the corpus, and the demo's, go through import passes, propagation and export
passes. What one pass leaves is what the next one meets, the order of uses included.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sdy.tools.demo_model import Size, lower_train_step
from tests.corpus.jax_programs import PROGRAMS
from tests.differential.comparison import ours
from tests.differential.reference import Reference

IMPORT = (
    "sdy-lift-inlined-meshes",
    "sdy-remove-size-one-axes",
    "sdy-constant-or-scalar-splitter",
    "sdy-add-data-flow-edges",
    "sdy-apply-sharding-constraints",
)
PROPAGATION = ("sdy-user-priority-propagate",)
EXPORT = (
    "func.func(sdy-constant-or-scalar-merger)",
    "func.func(sdy-sink-data-flow-edges)",
    "func.func(sdy-sharding-constraint-to-reshard)",
    "sdy-close-shardings",
    "func.func(sdy-drop-sharding-rules)",
)

PIPELINES = (
    "builtin.module(sdy-import-pipeline)",
    "builtin.module(sdy-import-pipeline{dedup-functions-fully=true})",
)


@pytest.fixture(scope="module")
def reference() -> Iterator[Reference]:
    with Reference() as client:
        yield client


def programs() -> dict[str, str]:
    lowered = lower_train_step(Size()).compiler_ir("stablehlo")
    demo = str(lowered.operation.get_asm(enable_debug_info=True))
    return {"demo": demo, **{name: build() for name, build in PROGRAMS.items()}}


@pytest.mark.parametrize("name", ["demo", *PROGRAMS])
def test_every_pass(name: str, reference: Reference) -> None:
    program = programs()[name]
    passes = IMPORT + PROPAGATION + EXPORT
    for count in range(len(IMPORT), len(passes) + 1):
        pipeline = f"builtin.module({','.join(passes[:count])})"
        expected = reference.run(program, pipeline)
        answer = ours(program, pipeline)
        assert not expected.error, pipeline
        assert answer.text == expected.text, pipeline
        if count <= len(IMPORT):
            assert answer.uses == expected.uses, pipeline


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("name", ["demo", *PROGRAMS])
def test_whole_pipelines(name: str, pipeline: str, reference: Reference) -> None:
    program = programs()[name]
    assert ours(program, pipeline).text == reference.run(program, pipeline).text
