"""Programs in the form that GPUs and TPUs are given compute what they compute as they are."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from jaxlib.mlir import ir

from sdy.compile.compiler import compile as compile_program
from sdy.compile.executable import Executable
from sdy.compile.hlo_form.form import to_hlo_form
from sdy.ir.load import load
from sdy.passes.pipeline import run_pipeline
from tests.corpus.compiled import arguments
from tests.corpus.jax_programs import PROGRAMS

NAMES = ("branches", "mixture_of_experts", "mlp_gradient")

pytestmark = pytest.mark.filterwarnings("ignore:.*unknown to SDY")


@cache
def expected(name: str) -> Any:
    return run(name, compile_program(PROGRAMS[name](), "cpu:8"))


def run(name: str, program: Executable) -> Any:
    return program(*arguments(name, program.signature.arguments))


def check_numbers(name: str, module: ir.Module, *, propagate: bool) -> None:
    program = compile_program(module, "cpu:8", propagate=propagate)
    for mine, reference in zip(run(name, program), expected(name), strict=True):
        np.testing.assert_allclose(mine, reference, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("platform", ["gpu", "tpu"])
@pytest.mark.parametrize("name", NAMES)
def test_numbers_stay_as_they_are(name: str, platform: str) -> None:
    module = load(PROGRAMS[name]())
    to_hlo_form(module, platform, is_propagated=False)
    check_numbers(name, module, propagate=True)


@pytest.mark.parametrize("name", NAMES)
def test_what_was_propagated_before_computes_the_same(name: str) -> None:
    module = load(PROGRAMS[name]())
    run_pipeline(module, "sdy-propagation-pipeline")
    check_numbers(name, module, propagate=False)
