"""The public way in to compilation.

It is light to import, so that `sdy` can bind the function over the package of the same name at
once, without loading MLIR or JAX.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from typing import Any

    import jax
    from jaxlib.mlir import ir

    from sdy.compile.executable import Executable
    from sdy.compile.jit import JittedFunction
    from sdy.ir.load import Lowered

__all__ = ["compile", "jit", "load_executable"]


def compile(  # noqa: A001 - the name that users of jax and re know it by
    program: str | bytes | os.PathLike[str] | Lowered | ir.Module,
    target: str | Sequence[jax.Device] = "cpu:8",
    *,
    propagate: bool | None = None,
    complete: bool = True,
) -> Executable:
    """Compile a program for all devices of a target; the program itself stays as it is.

    XLA's SPMD partitioner (GSPMD) splits the program as its shardings say, without changing
    those of arguments and results, and without Shardy.

    Args:
      program: a module, or what else `sdy.load` takes. What JAX lowered is then called as the
        function is.
      target: `cpu:N` for N virtual devices on this machine's CPU; `tpu:v5e:2x4` for a TPU
        topology or `gpu:h100:N` for N GPUs (a100, h100, h200, b200), ahead of time; or JAX
        devices that are there, in the order in which shardings number them.
      propagate: whether to work out the shardings that the program does not say, in a copy that
        is brought into the form of HLO first, as XLA does before its own Shardy. None: of all but a
        module, which may have been through passes of your choice and whose shardings are kept.
      complete: whether a value without a sharding is replicated; else GSPMD decides.

    Raises:
      Error: if the target is not understood or its package is not installed, if the program
        cannot be exported to GSPMD, if its shardings are for another number of devices, or if
        XLA refuses it.

    """
    from sdy.compile.build import build

    return build(program, target, propagate=propagate, complete=complete)


def load_executable(
    path: str | os.PathLike[str], target: str | Sequence[jax.Device] | None = None
) -> Executable:
    """Read what `Executable.save` wrote with the same jaxlib on the same platform.

    A file holds machine code: load only files that you trust.

    Args:
      path: of the file.
      target: as in `sdy.compile`; the one that the program was compiled for if None. What was
        compiled ahead of time needs JAX devices that are there.

    Raises:
      Error: if the file cannot be read, if another version wrote it, or if the target is not
        what the program was compiled for.

    """
    from sdy.compile.saved import read_executable

    return read_executable(path, target)


def jit(
    function: Callable[..., Any],
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    target: str | Sequence[jax.Device] | None = None,
) -> JittedFunction:
    """Return a function that is compiled as by `sdy.compile` when it is called, as `jax.jit`.

    One executable is made for each tree of arguments with its shapes, element types and static
    values.

    Args:
      function: on pytrees of arrays, as JAX traces it.
      in_shardings: for the arguments, a pytree prefix with shardings; None where propagation
        is to find one.
      out_shardings: the same for the results.
      static_argnums: arguments by position that are no arrays but part of the program; hashable.
      static_argnames: the same by name.
      target: as in `sdy.compile`; if None, the devices of the first mesh in the shardings or
        of the first array that lies on one, else JAX's first device.

    """
    from sdy.compile.jit import JittedFunction

    return JittedFunction(
        function,
        target,
        [static_argnums] if isinstance(static_argnums, int) else static_argnums,
        [static_argnames] if isinstance(static_argnames, str) else static_argnames,
        in_shardings=in_shardings,
        out_shardings=out_shardings,
    )
