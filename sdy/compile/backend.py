"""Devices and the compiler for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import jax

__all__ = ["Backend", "Client", "Compiled", "Loaded"]


class Compiled(Protocol):
    """What is used of jaxlib's `Executable`, which no device holds."""

    def hlo_modules(self) -> list[Any]:
        """Return the compiled program."""

    def get_compiled_memory_stats(self) -> Any:
        """Return how much memory a device needs."""

    def cost_analysis(self) -> dict[str, float]:
        """Return what XLA expects the program to cost."""

    def serialize(self) -> bytes:
        """Return the program as bytes that the same version of XLA reads."""


class Loaded(Compiled, Protocol):
    """What is used of jaxlib's `LoadedExecutable`."""

    def execute_sharded(self, arguments: list[jax.Array]) -> Any:
        """Run the program on arrays that hold the shards of all devices."""


class Client(Protocol):
    """What is used of jaxlib's `Client`."""

    @property
    def platform(self) -> str:
        """The kind of devices: `cpu`, `gpu` or `tpu`."""

    @property
    def platform_version(self) -> str:
        """The version of the compiler and the runtime."""

    def compile(self, module: Any, *, executable_devices: Any, compile_options: Any) -> Compiled:
        """Compile an MLIR module for devices that are not here; only some clients can."""

    def compile_and_load(self, module: bytes, devices: Any, options: Any) -> Loaded:
        """Compile MLIR bytecode and load it on the devices."""

    def deserialize_executable(self, data: bytes, devices: Any, options: Any) -> Loaded:
        """Load what `serialize` gave on the devices."""


@dataclass(frozen=True, slots=True)
class Backend:
    """The devices of a target, in the order in which shardings number them.

    Attributes:
      devices: jaxlib's devices.
      client: jaxlib's client that compiles for them.
      target: what the devices are, as a target is written, or the platform's name.
      is_here: whether programs can be run; else they are compiled ahead of time.

    """

    devices: tuple[jax.Device, ...]
    client: Client
    target: str
    is_here: bool = True
