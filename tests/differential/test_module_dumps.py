"""The files that propagation writes between user priorities are the reference's."""

from __future__ import annotations

import random
import warnings
from pathlib import Path

import pytest
from jaxlib.mlir import ir

from sdy.ir.context import make_context
from sdy.passes.pipeline import run_pipeline
from tests.differential.random_programs import ProgramOptions, random_program
from tests.differential.reference import Reference

OPTIONS = ("", "keep-sharding-rules=true ", "conservative-propagation=true ")


def files(directory: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in directory.iterdir()}


@pytest.mark.parametrize("options", OPTIONS)
def test_files_between_priorities(options: str, tmp_path: Path) -> None:
    numbers = set()
    with Reference() as reference:
        for seed in range(40):
            program = random_program(random.Random(seed).randrange, ProgramOptions(ops=10))
            expected, got = tmp_path / f"expected{seed}", tmp_path / f"got{seed}"
            for directory in (expected, got):
                directory.mkdir()
            pipeline = (
                f"builtin.module(sdy-user-priority-propagate{{{options}module-dump-directory="
            )
            imports = "builtin.module(sdy-add-data-flow-edges,sdy-apply-sharding-constraints)"
            imported = reference.run(program, imports).text
            if reference.run(imported, f"{pipeline}{expected}}})").error:
                continue
            with make_context(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                run_pipeline(ir.Module.parse(imported), f"{pipeline}{got}}})")
            assert files(got) == files(expected), seed
            numbers.add(len(files(got)))
    assert numbers >= {0, 1, 2}
