"""The order of the rewrites.

XLA runs Shardy on HLO, which has fewer ops than StableHLO: what is one op there is several ops
here, each with a sharding of its own. An answer for the StableHLO can be another, and XLA would
give all that stands for one op the sharding of its result, dimensions that are of size one there
included.
"""

from __future__ import annotations

from jaxlib.mlir import ir

from sdy.compile.hlo_form.broadcasts import split_broadcasts
from sdy.compile.hlo_form.chlo import chlo_to_custom_calls, decompose_chlo
from sdy.compile.hlo_form.inlined_calls import inline_calls
from sdy.compile.hlo_form.reshapes import fold_reshapes
from sdy.compile.hlo_form.transposed_dots import fold_transposed_dots
from sdy.ir.indexed_module import IndexedModule
from sdy.passes.pipeline import run_pipeline

__all__ = ["to_hlo_form"]


def to_hlo_form(module: ir.Module, platform: str, *, is_propagated: bool) -> None:
    """Bring a module into the form of HLO, in place, as the compiler of a platform has it.

    For the CPU, XLA partitions a program as it reads it. For GPUs and TPUs it simplifies it before;
    what of that bears on shardings is done here, so that they are found for what is partitioned.

    Args:
      module: with shardings or without.
      platform: `cpu`, `gpu` or `tpu`.
      is_propagated: whether its shardings are all there, so that a new value must have one.

    """
    simplify = platform != "cpu"
    indexed = IndexedModule(module)
    with module.context, ir.Location.unknown():
        inline_calls(indexed)
        chlo_to_custom_calls(indexed, platform)
        if not is_propagated:
            decompose_chlo(indexed)
        split_broadcasts(indexed, simplify=simplify)
        fold_reshapes(indexed)
        if simplify:
            fold_transposed_dots(indexed)
    run_pipeline(module, "symbol-dce, cse" if platform == "tpu" else "symbol-dce")
