"""The public way in to compilation.

It is light to import, so that `sdy` can bind the function over the package of the same name at
once, without loading MLIR or JAX.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

    from jaxlib.mlir import ir

    from sdy.compile.executable import Executable
    from sdy.ir.load import Lowered

__all__ = ["compile"]


def compile(  # noqa: A001 - the name that users of jax and re know it by
    program: str | bytes | os.PathLike[str] | Lowered | ir.Module,
    target: str = "cpu:8",
    *,
    complete: bool = True,
) -> Executable:
    """Compile a program for all devices of a target; the program itself stays as it is.

    XLA's SPMD partitioner (GSPMD) splits the program as its shardings say, without changing
    those of arguments and results, and without Shardy.

    Args:
      program: a propagated module, or what `sdy.load` takes. What JAX lowered is propagated
        first; a module is taken as it is.
      target: `cpu:N` for N virtual devices on this machine's CPU.
      complete: whether a value without a sharding is replicated; else GSPMD decides.

    Raises:
      Error: if the target is not understood, if the program cannot be exported to GSPMD, if
        its shardings are for another number of devices, or if XLA refuses it.

    """
    from sdy.compile.build import build

    return build(program, target, complete=complete)
