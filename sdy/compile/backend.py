"""Devices and the compiler for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import jax

__all__ = ["Backend", "Loaded"]


class Loaded(Protocol):
    """What is used of jaxlib's `LoadedExecutable`."""

    def execute_sharded(self, arguments: list[jax.Array]) -> Any:
        """Run the program on arrays that hold the shards of all devices."""

    def hlo_modules(self) -> list[Any]:
        """Return the compiled program."""


class Client(Protocol):
    """What is used of jaxlib's `Client`."""

    def compile_and_load(self, module: bytes, devices: Any, options: Any) -> Loaded:
        """Compile MLIR bytecode and load it on the devices."""


@dataclass(frozen=True, slots=True)
class Backend:
    """The devices of a target, in the order in which shardings number them.

    Attributes:
      devices: jaxlib's devices.
      client: jaxlib's client that compiles for them.

    """

    devices: tuple[jax.Device, ...]
    client: Client
