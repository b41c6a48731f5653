"""To what XLA reads and back: every value keeps its placement, and nothing is left to add."""

from __future__ import annotations

import inspect
import re

import jax
import pytest
from jaxlib.mlir import ir

import sdy
from sdy.passes.gspmd.from_gspmd import from_gspmd
from sdy.passes.pipeline import run_pipeline
from tests.corpus.jax_programs import PROGRAMS
from tests.differential.small_programs import SMALL_PROGRAMS

# Without Shardy, JAX says no more of custom calls with a sharding rule than of any others.
HAS_NO_RULES_IN_GSPMD = {"linear_algebra"}

# The passes of the import pipeline that do not read what the export pipeline wrote.
IMPORT_WITHOUT_READING = ",".join(
    (
        "symbol-dce",
        "xla-sdy-import-constants",
        "stablehlo-ext-canonicalize-from-hlo-import",
        "xla-sdy-open-while-free-vars-sharding",
        "canonicalize",
    )
)


NAMES = (*PROGRAMS, *SMALL_PROGRAMS)

# What is returned is unreduced, but not said to be before the return: the second propagation is
# told that it is not.
SAYS_TOO_MUCH = {"unreduced"}


def partitioned(name: str) -> ir.Module:
    text = PROGRAMS[name]() if name in PROGRAMS else SMALL_PROGRAMS[name]
    return sdy.to_gspmd(sdy.propagate(text))


@pytest.mark.parametrize("name", NAMES)
def test_every_value_keeps_its_placement(name: str) -> None:
    module = partitioned(name)
    before = counted(module)
    from_gspmd(module)
    assert "mhlo.sharding" not in str(module)
    assert counted(sdy.to_gspmd(module)) == before


def counted(module: ir.Module) -> str:
    """Return the text of a module, without a list where devices are in order."""
    return str(module).replace("]0,1,2,3,4,5,6,7 ", "]<=[8] ")


@pytest.mark.parametrize("name", [name for name in NAMES if name not in SAYS_TOO_MUCH])
def test_propagation_has_nothing_to_add(name: str) -> None:
    module = partitioned(name)
    before = placements(module)
    propagated = sdy.propagate(from_gspmd(module))
    assert placements(sdy.to_gspmd(propagated)) == before


@pytest.mark.parametrize("options", ["", "{enable-hlo-sharding-v3=true}"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_round_trip_form_says_all(name: str, options: str) -> None:
    there_and_back, expected = sdy.load(PROGRAMS[name]()), sdy.load(PROGRAMS[name]())
    run_pipeline(there_and_back, f"xla-sdy-round-trip-export-pipeline{options}")
    assert "#sdy" not in re.sub(r'"[^"]*"', "", str(there_and_back))
    run_pipeline(there_and_back, f"xla-sdy-round-trip-import-pipeline{options}")
    run_pipeline(expected, IMPORT_WITHOUT_READING)
    assert without_mesh_attributes(there_and_back) == without_mesh_attributes(expected)


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - HAS_NO_RULES_IN_GSPMD))
def test_jaxs_two_ways_to_lower_are_one(name: str) -> None:
    with_shardy = partitioned(name)
    module = sdy.load(lowered_for_gspmd(name))
    assert "sdy." not in str(module)
    propagated = sdy.propagate(from_gspmd(module))
    assert placements(sdy.to_gspmd(propagated)) == placements(with_shardy)


def lowered_for_gspmd(name: str) -> str:
    build = inspect.unwrap(PROGRAMS[name])  # Programs are lowered once, else.
    jax.config.update("jax_use_shardy_partitioner", False)
    try:
        return str(build())
    finally:
        jax.config.update("jax_use_shardy_partitioner", True)


def without_mesh_attributes(module: ir.Module) -> str:
    """Return the text of a module; JAX describes its meshes in the words of StableHLO too."""
    return re.sub(r"(sdy\.mesh @.*>) \{stablehlo\.mesh = .*\}", r"\1", str(module))


def placements(module: ir.Module) -> list[tuple[str, str]]:
    """Return each op with its sharding, but for copies.

    Propagation puts one behind a call whose result has a sharding, whether it changes it or not.
    """
    found = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name != "mhlo.copy":
            found.append((op.name, str(op.attributes.get("mhlo.sharding"))))
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found
