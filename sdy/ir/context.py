"""MLIR contexts with every dialect that jaxlib carries and StableHLO programs use."""

from __future__ import annotations

from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext, _mlirHlo
from jaxlib.mlir.dialects import chlo as mlir_chlo
from jaxlib.mlir.dialects import sdy as mlir_sdy
from jaxlib.mlir.dialects import stablehlo as mlir_stablehlo

__all__ = ["make_context"]


def make_context(*, allow_unregistered_dialects: bool = False) -> ir.Context:
    """Return a new single-threaded context; enter it with `with`."""
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context = ir.Context()
    context.enable_multithreading(False)
    context.append_dialect_registry(registry)
    mlir_sdy.register_dialect(context)
    mlir_stablehlo.register_dialect(context)
    mlir_chlo.register_dialect(context)
    _mlirHlo.register_mhlo_dialect(context)
    context.load_all_available_dialects()
    context.allow_unregistered_dialects = allow_unregistered_dialects
    return context
