"""To GSPMD and back: every value keeps its placement, and propagation has nothing to add."""

from __future__ import annotations

import pytest
from jaxlib.mlir import ir

import sdy
from sdy.passes.gspmd.from_gspmd import from_gspmd
from tests.corpus.jax_programs import PROGRAMS

# Manual computations have no image in XLA without an export of their own.
WITHOUT_MANUAL = sorted(name for name in PROGRAMS if not name.startswith("shard_map"))


def partitioned(name: str) -> ir.Module:
    return sdy.to_gspmd(sdy.propagate(PROGRAMS[name]()))


@pytest.mark.parametrize("name", WITHOUT_MANUAL)
def test_every_value_keeps_its_placement(name: str) -> None:
    module = partitioned(name)
    before = str(module)
    from_gspmd(module)
    assert "mhlo.sharding" not in str(module)
    assert str(sdy.to_gspmd(module)) == before


@pytest.mark.parametrize("name", WITHOUT_MANUAL)
def test_propagation_has_nothing_to_add(name: str) -> None:
    module = partitioned(name)
    before = placements(module)
    propagated = sdy.propagate(from_gspmd(module))
    assert placements(sdy.to_gspmd(propagated)) == before


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
