"""Compares passes with the reference's, one after the other."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from jaxlib.mlir import ir

from sdy.ir.context import make_context
from sdy.ir.diagnostics import ShardingWarning
from sdy.passes.pipeline import run_pipeline
from tests.differential.reference import Reference, Snapshot, snapshot

__all__ = ["check_passes", "ours"]


def ours(program: str, pipeline: str) -> Snapshot:
    """Run a pipeline such as `builtin.module(sdy-close-shardings)` on MLIR text; no warnings."""
    with make_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ShardingWarning)
        module = ir.Module.parse(program)
        run_pipeline(module, pipeline)
        return snapshot(module)


def check_passes(program: str, passes: Sequence[str], reference: Reference) -> Snapshot:
    """Compare after each pass on the result of those before it; return the last result."""
    for count in range(1, len(passes) + 1):
        pipeline = f"builtin.module({','.join(passes[:count])})"
        expected = reference.run(program, pipeline)
        assert not expected.error, expected.error
        assert ours(program, pipeline) == expected, pipeline
    return expected
