"""The pipelines with XLA's names do what XLA's own do."""

from __future__ import annotations

import re
import warnings
from functools import cache

import pytest

import sdy
from sdy.passes.pipeline import run_pipeline
from tests.corpus.jax_programs import PROGRAMS
from tests.differential.small_programs import SMALL_PROGRAMS
from tests.differential.xla_dumps import XlasModules, dump_xlas_modules
from tests.versions import pinned

pytestmark = [pinned, pytest.mark.slow]

# XLA's importer, and what Shardy does before it adds data-flow edges, which it does not write out.
IMPORT = ",".join(
    (
        "xla-sdy-round-trip-import-pipeline{lift-and-dedup-meshes=true}",
        "symbol-dce",
        "sdy-lift-inlined-meshes",
        "sdy-remove-size-one-axes",
        "sdy-propagate-sharding-from-func-to-call",
        "sdy-constant-or-scalar-splitter",
        "symbol-dce",
        "sdy-manual-axes-cleanup",
    )
)
EXPORT = "sdy-drop-sharding-rules,xla-sdy-stablehlo-export-pipeline"
ROUND_TRIP_EXPORT = "xla-sdy-round-trip-export-pipeline"

NAMES = (*PROGRAMS, *SMALL_PROGRAMS)

RULE = re.compile(r", sdy\.sharding_rule = #sdy\.op_sharding_rule<.*?custom>")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, XlasModules]:
    return dump_xlas_modules(texts(), tmp_path_factory.mktemp("xla"))


def texts() -> dict[str, str]:
    return {name: build() for name, build in PROGRAMS.items()} | SMALL_PROGRAMS


def ran(text: str, pipeline: str) -> str:
    module = sdy.load(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run_pipeline(module, pipeline)
    return str(module)


@cache
def parsed(text: str) -> str:
    return str(sdy.load(text))


@pytest.mark.parametrize("name", NAMES)
def test_import(programs: dict[str, XlasModules], name: str) -> None:
    assert ran(programs[name].read, IMPORT) == parsed(programs[name].imported)


@pytest.mark.parametrize("name", NAMES)
def test_export(programs: dict[str, XlasModules], name: str) -> None:
    # XLA leaves the rules of custom calls in the module, where nothing reads them any more.
    expected = RULE.sub("", parsed(programs[name].exported))
    assert ran(programs[name].propagated, EXPORT) == expected


def test_round_trip_export(
    programs: dict[str, XlasModules], tmp_path_factory: pytest.TempPathFactory
) -> None:
    exported = {name: ran(text, ROUND_TRIP_EXPORT) for name, text in texts().items()}
    ours = dump_xlas_modules(exported, tmp_path_factory.mktemp("ours"))
    for name, modules in programs.items():
        assert ours[name].read == modules.read, name
