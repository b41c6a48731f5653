"""Devices that the user's own JAX has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
from jaxlib import _jax

from sdy.compile.backend import Backend
from sdy.dialect.errors import Error

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["attached_backend"]


def attached_backend(devices: Sequence[jax.Device]) -> Backend:
    """Return the backend of JAX devices; shardings number them in the order given.

    Raises:
      Error: if these are no devices, or not devices that can run one program together.

    """
    found = tuple(devices)
    for device in found:
        if not isinstance(device, jax.Device):
            raise Error(f"expected a target or JAX devices, got {type(device).__name__}")
    if not found:
        raise Error("expected one JAX device or more, got none")
    if len(set(found)) != len(found):
        raise Error("a JAX device is listed twice")
    client = found[0].client
    if any(device.client is not client for device in found):
        raise Error("the JAX devices belong to several clients: one program cannot run on them")
    is_here = not isinstance(client, _jax.CompileOnlyPyClient)
    return Backend(found, client, f"{client.platform}:{len(found)}", is_here=is_here)
