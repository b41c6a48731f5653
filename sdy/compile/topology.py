"""Devices that are not here, to compile for ahead of time."""

from __future__ import annotations

import os
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from sdy.compile.backend import Backend
from sdy.dialect.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import jax

__all__ = ["default_environment", "require_package", "topology_backend"]


def topology_backend(devices: Iterable[jax.Device], target: str) -> Backend:
    """Return the backend of a topology's devices, numbered as the topology numbers them."""
    # The topology gives them host by host.
    ordered = tuple(sorted(devices, key=lambda device: device.id))
    return Backend(ordered, ordered[0].client, target, is_here=False)


def require_package(modules: Iterable[str], target: str, extra: str) -> None:
    """Raise `sdy.Error` with the pip command where none of the modules is installed."""
    if not any(map(_is_installed, modules)):
        raise Error(
            f"target '{target}' needs a package that is not installed: pip install 'sdy[{extra}]'"
        )


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@contextmanager
def default_environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set those environment variables that are not set, and take them back at the end."""
    missing = {name: value for name, value in variables.items() if name not in os.environ}
    os.environ.update(missing)
    try:
        yield
    finally:
        for name in missing:
            del os.environ[name]
