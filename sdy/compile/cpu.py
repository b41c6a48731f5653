"""Virtual devices on the CPU.

They belong to a client of their own: the number of devices of the process' own jax is fixed
when it is first used, and is the user's to choose.
"""

from __future__ import annotations

from functools import lru_cache

from jaxlib import xla_client

from sdy.compile.backend import Backend
from sdy.dialect.errors import Error

__all__ = ["cpu_backend"]


@lru_cache(maxsize=8)
def cpu_backend(count: int) -> Backend:
    """Return `count` virtual CPU devices; the same ones for each of the last eight counts.

    Raises:
      Error: if jaxlib cannot make them.

    """
    try:
        client = xla_client.make_cpu_client(num_devices=count)
    except RuntimeError as error:
        raise Error(f"cannot make {count} virtual CPU devices: {error}") from error
    return Backend(tuple(client.devices()), client, f"cpu:{count}")
