"""A program that was compiled for the devices of a target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdy.compile.arrays import assemble, place
from sdy.compile.collectives import Collective, read_collectives
from sdy.dialect.errors import Error

if TYPE_CHECKING:
    import jax
    from jax.typing import ArrayLike

    from sdy.compile.backend import Backend, Loaded
    from sdy.compile.signature import ShardedType, Signature
    from sdy.dialect.hlo_sharding import HloSharding

__all__ = ["Executable"]


@dataclass(frozen=True, slots=True)
class Executable:
    """A compiled program; call it with one array for each argument of its `main`.

    Made by `sdy.compile`.

    Attributes:
      signature: what it takes and returns.

    """

    signature: Signature
    _loaded: Loaded
    _backend: Backend

    def __call__(self, *arrays: ArrayLike) -> tuple[jax.Array, ...]:
        """Run the program.

        Args:
          *arrays: whole arrays, of numpy or JAX; each device gets its part. An array that
            already lies on the devices as it should is not copied.

        Returns:
          One array for each result, with its parts on the devices.

        Raises:
          Error: if the number of arrays, a shape or an element type is not the program's.

        """
        expected = self.signature.arguments
        if len(arrays) != len(expected):
            raise Error(f"the program takes {len(expected)} arguments, got {len(arrays)}")
        placed = [
            place(array, wanted, self.devices, f"argument {i}")
            for i, (array, wanted) in enumerate(zip(arrays, expected, strict=True))
        ]
        results = self._loaded.execute_sharded(placed).disassemble_into_single_device_arrays()
        return tuple(
            assemble(parts, held, self.devices)
            for parts, held in zip(results, self.signature.results, strict=True)
        )

    @property
    def devices(self) -> tuple[jax.Device, ...]:
        """The devices, in the order in which shardings number them."""
        return self._backend.devices

    @property
    def num_devices(self) -> int:
        """The number of devices."""
        return len(self.devices)

    @property
    def argument_shardings(self) -> tuple[HloSharding, ...]:
        """How each argument is laid out."""
        return _shardings(self.signature.arguments)

    @property
    def result_shardings(self) -> tuple[HloSharding, ...]:
        """How each result is laid out."""
        return _shardings(self.signature.results)

    def hlo_text(self) -> str:
        """Return the program of one device, as XLA compiled it, in HLO text."""
        return "\n".join(module.to_string() for module in self._loaded.hlo_modules())

    def collectives(self) -> tuple[Collective, ...]:
        """Return the instructions by which the devices exchange data."""
        return read_collectives(self.hlo_text())


def _shardings(types: tuple[ShardedType, ...]) -> tuple[HloSharding, ...]:
    return tuple(value.sharding for value in types)
