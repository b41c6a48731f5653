"""Propagation as a user calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from sdy.dialect.errors import Error
from sdy.ir.load import load
from sdy.passes.pipeline import run_pipeline
from sdy.passes.propagation_pipeline import PropagationPipeline

if TYPE_CHECKING:
    import os

    from jaxlib.mlir import ir

    from sdy.ir.load import Lowered

__all__ = ["propagate"]


def propagate(
    program: str | bytes | os.PathLike[str] | Lowered | ir.Module,
    *,
    dedup_functions_fully: bool = False,
    explicit_collectives: bool = False,
    sub_axes_in_io: Literal["remove", "allow"] = "remove",
    follow_composites: bool = False,
) -> ir.Module:
    """Work out the shardings of all tensors of a program from those of a few.

    Args:
      program: a module, which is changed in place, or what `sdy.load` takes.
      dedup_functions_fully: whether all calls of a function share its shardings; otherwise a
        function that is called with different ones gets a copy for each.
      explicit_collectives: whether the program says itself where it communicates, by
        `sdy.all_gather` and the like; otherwise only some reshards are written out, and the
        partitioner adds the rest.
      sub_axes_in_io: whether the main function's arguments and results may be sharded along
        parts of axes, which JAX has no way to express.
      follow_composites: whether to propagate through the decompositions of composites, into
        them and back; otherwise they stay as they are.

    Returns:
      The module.

    Raises:
      Error: located, where the program cannot be propagated; a module is then as it was.

    """
    if sub_axes_in_io not in ("remove", "allow"):
        raise Error(f"sub_axes_in_io must be 'remove' or 'allow', got {sub_axes_in_io!r}")
    pipeline = PropagationPipeline(
        dedup_functions_fully=dedup_functions_fully,
        follow_composites=follow_composites,
        enable_insert_explicit_collectives=explicit_collectives,
        remove_sub_axes_in_input_output_shardings=sub_axes_in_io == "remove",
    )
    return run_pipeline(load(program), pipeline.text())
