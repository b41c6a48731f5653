"""Propagation as a user calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdy.ir.load import load
from sdy.passes.options import value_text
from sdy.passes.pipeline import run_pipeline

if TYPE_CHECKING:
    import os

    from jaxlib.mlir import ir

    from sdy.ir.load import Lowered

__all__ = ["propagate"]


def propagate(
    program: str | bytes | os.PathLike[str] | Lowered | ir.Module,
    *,
    dedup_functions_fully: bool = False,
    follow_composites: bool = False,
) -> ir.Module:
    """Work out the shardings of all tensors of a program from those of a few.

    Args:
      program: a module, which is changed in place, or what `sdy.load` takes.
      dedup_functions_fully: whether all calls of a function share its shardings; otherwise a
        function that is called with different ones gets a copy for each.
      follow_composites: whether to propagate through the decompositions of composites, into
        them and back; otherwise they stay as they are.

    Returns:
      The module.

    Raises:
      Error: located, where the program cannot be propagated; a module is then as it was.

    """
    module = load(program)
    options = (
        f"dedup-functions-fully={value_text(dedup_functions_fully)} "
        f"follow-composites={value_text(follow_composites)}"
    )
    return run_pipeline(module, f"builtin.module(sdy-propagation-pipeline{{{options}}})")
