"""After `sdy-export-pipeline`, and after propagation from end to end, the reference's text."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from sdy.dialect.errors import Error
from tests.corpus.jax_programs import PROGRAMS
from tests.differential.call_programs import CALL_PROGRAMS
from tests.differential.comparison import ours
from tests.differential.pass_lists import (
    EXPORT_OF_CALLS,
    IMPORT_OF_CALLS,
    PROPAGATION_WITH_RULES,
)
from tests.differential.random_programs import ProgramOptions, random_program
from tests.differential.reference import Reference

PASSES = (*IMPORT_OF_CALLS, PROPAGATION_WITH_RULES, *EXPORT_OF_CALLS)
PROPAGATED = f"builtin.module({','.join(PASSES)})"
OPTIONS = (
    "",
    "{enable-insert-explicit-collectives=true}",
    "{enable-insert-explicit-collectives=true remove-all-gather-reduce-scatter-for-cmv1=true}",
    "{update-non-divisible-input-output-shardings=false keep-sharding-rules=true}",
    "{avoid-export-for-partitioning=true}",
)
END_TO_END = (
    "builtin.module(sdy-propagation-pipeline)",
    "builtin.module(sdy-propagation-pipeline{dedup-functions-fully=true})",
)


def check(program: str, pipeline: str, reference: Reference) -> None:
    """Compare texts; where the reference fails, we answer or raise an error."""
    expected = reference.run(program, pipeline)
    if not expected.error:
        assert ours(program, pipeline).text == expected.text, pipeline
        return
    with suppress(Error):
        assert ours(program, pipeline).text


def check_export(program: str, reference: Reference) -> None:
    before = reference.run(program, PROPAGATED)
    for options in OPTIONS if not before.error else ():
        check(before.text, f"builtin.module(sdy-export-pipeline{options})", reference)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_jax(name: str, reference: Reference) -> None:
    check_export(PROGRAMS[name](), reference)
    for pipeline in END_TO_END:
        check(PROGRAMS[name](), pipeline, reference)


@pytest.mark.parametrize("name", CALL_PROGRAMS)
def test_calls(name: str, reference: Reference) -> None:
    check_export(CALL_PROGRAMS[name], reference)
    for pipeline in END_TO_END:
        check(CALL_PROGRAMS[name], pipeline, reference)


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed: int, reference: Reference) -> None:
    options = ProgramOptions(ops=8 + seed % 20)
    program = random_program(Random(seed).randrange, options)
    check_export(program, reference)
    check(program, END_TO_END[seed % 2], reference)


@pytest.mark.parametrize(
    ("explicit", "files"),
    [
        (
            "false",
            [
                "00.after_propagation.mlir",
                "01.after_minimal_partitioner_with_global_shapes.mlir",
            ],
        ),
        (
            "true",
            [
                "00.after_propagation.mlir",
                "01.after_explicit_reshards.mlir",
                "02.after_partitioner_with_global_shapes.mlir",
            ],
        ),
    ],
)
def test_module_is_written_after_each_stage(
    explicit: str, files: list[str], tmp_path: Path, reference: Reference
) -> None:
    program = CALL_PROGRAMS["different shardings for each call"]
    texts = {}
    for side, run in (("ours", ours), ("reference", reference.run)):
        (tmp_path / side).mkdir()
        options = f"dump-directory={tmp_path / side} enable-insert-explicit-collectives={explicit}"
        run(program, f"builtin.module(sdy-export-pipeline{{{options}}})")
        texts[side] = {p.name: p.read_text() for p in sorted((tmp_path / side).iterdir())}
    assert list(texts["ours"]) == files
    assert texts["ours"] == texts["reference"]
