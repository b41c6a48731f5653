"""The public way in to marks, for values of modules and for arrays.

JAX is imported for arrays alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaxlib.mlir import ir

from sdy.dialect.errors import Error
from sdy.ir.marking import clear_value, mark_value
from sdy.ir.values import FunctionResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    import jax

    from sdy.dialect.mesh import Mesh
    from sdy.dialect.partition_spec import Entry

__all__ = ["clear_sharding", "mark_sharding"]

_OF_A_MODULE = (ir.Value, ir.OpView, ir.Operation, FunctionResult)


def mark_sharding(
    x: Any,
    mesh: Mesh | jax.sharding.Mesh | str | None,
    partition_spec: Sequence[Entry],
    *,
    devices: Sequence[jax.Device] | None = None,
) -> Any:
    """Mark a value of a module, or an array, with a sharding.

    An argument or a result of a function carries the mark itself. Any other value gains one
    `sdy.sharding_constraint`, which all its users then read. An array of numpy is split on the
    host and its shards are put on the devices; one of JAX is moved.

    A second equal mark does nothing. A second mark that is not equal is refused, unless the
    first is replicated or says nothing: `clear_sharding` takes it away. `counters` tell which
    of all this was done.

    Args:
      x: an argument of a function of a module, a result of an op (or the op, where it has just
        one), a result of a function; or an array of numpy or JAX.
      mesh: for a module, one of its meshes, by name or as a value, or None for the only one; a
        mesh that it does not have is added under its name, or inlined if it has none. For an
        array, a mesh of all devices, of this package or of JAX.
      partition_spec: one entry for each dimension: None where it is not split, else the name or
        the index of a mesh axis, or a tuple of them.
      devices: for an array, all devices in the order in which the mesh numbers them; JAX's by
        default.

    Returns:
      `x` itself if it is of a module; the array on the devices otherwise.

    Raises:
      Error: where the spec does not fit the mesh or the value, the value cannot be marked, or it
        has another mark. The module is then as it was.

    """
    if isinstance(x, _OF_A_MODULE):
        if devices is not None:
            raise Error("devices are for arrays: a module has meshes alone")
        mark_value(x, mesh, partition_spec)
        return x
    from sdy.compile.array_marking import mark_array

    return mark_array(x, mesh, partition_spec, devices)


def clear_sharding(x: Any) -> Any:
    """Take the mark of a value of a module, or of an array, away; also any other sharding it has.

    The constraint behind the value is erased: no handle to it may be used again. A value that is
    itself the result of a constraint keeps it, and it then says nothing.

    Returns:
      `x` itself if it is of a module; otherwise an array of numpy, on the host.

    Raises:
      Error: where the sharding is part of what an op does, as in `sdy.all_gather`.

    """
    if isinstance(x, _OF_A_MODULE):
        clear_value(x)
        return x
    from sdy.compile.array_marking import clear_array

    return clear_array(x)
