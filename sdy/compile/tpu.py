"""TPUs, compiled for ahead of time by the package libtpu."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING

from jax.experimental.topologies import get_topology_desc

from sdy.compile.topology import default_environment, require_package, topology_backend
from sdy.dialect.errors import Error

if TYPE_CHECKING:
    from sdy.compile.backend import Backend

__all__ = ["tpu_backend"]

# Set by jax, when it is imported, on machines without TPU chips.
_HAS_NO_CHIPS = "TPU_SKIP_MDS_QUERY"
# On such machines libtpu else complains that it does not know the machine, and that another
# process uses its chips. What these say has no influence on the topology.
_ENVIRONMENT = {
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "TPU_ACCELERATOR_TYPE": "v5litepod-8",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_WORKER_ID": "0",
}


@lru_cache(maxsize=8)
def tpu_backend(topology: str) -> Backend:
    """Return the devices of a topology such as `v5e:2x4`; on v2 to v4, each chip has several.

    Raises:
      Error: if libtpu is not installed or knows no such topology.

    """
    target = f"tpu:{topology}"
    require_package(["libtpu"], target, "tpu")
    try:
        with default_environment(_ENVIRONMENT if _HAS_NO_CHIPS in os.environ else {}):
            described = get_topology_desc(topology, "tpu")
    except RuntimeError as error:
        raise Error(f"libtpu knows no topology '{topology}': {error}") from error
    return topology_backend(described.devices, target)
