"""A program that was compiled for the devices of a target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from sdy.compile.analysis import Cost, Memory, read_cost, read_memory
from sdy.compile.arrays import assemble, place
from sdy.compile.collectives import Collective, read_collectives
from sdy.dialect.errors import Error

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import jax
    from jax.typing import ArrayLike

    from sdy.compile.backend import Backend, Compiled, Loaded
    from sdy.compile.signature import ShardedType, Signature
    from sdy.compile.trees import Trees
    from sdy.dialect.hlo_sharding import HloSharding

__all__ = ["Executable"]


@dataclass(frozen=True, slots=True)
class Executable:
    """A compiled program. Made by `sdy.compile` and `sdy.load_executable`.

    Call it with one array for each argument of its `main`; where it was made of what JAX
    lowered, with the arguments of the function. What was compiled ahead of time cannot be
    called.

    Attributes:
      signature: what it takes and returns.

    """

    signature: Signature
    _compiled: Compiled
    _backend: Backend
    _trees: Trees | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program.

        Args:
          *args: whole arrays, of numpy or JAX; each device gets its part. An array that
            already lies on the devices as it should is not copied. Of a program that JAX
            lowered: the function's own positional arguments.
          **kwargs: the function's own keyword arguments.

        Returns:
          A tuple with one array for each result, with its parts on the devices. Of a program
          that JAX lowered: such arrays in the tree that the function returns.

        Raises:
          Error: if the number of arrays, their tree, a shape or an element type is not the
            program's, or if the program was compiled ahead of time.

        """
        if not self._backend.is_here:
            raise Error(
                f"the program was compiled ahead of time for '{self.target}': it can be saved "
                "and looked at, not called"
            )
        if self._trees:
            return self._trees.unflatten(self._run(self._trees.flatten(args, kwargs)))
        if kwargs:
            raise Error(f"the program's arguments have no names, got '{next(iter(kwargs))}'")
        return self._run(args)

    def _run(self, arrays: Sequence[ArrayLike]) -> tuple[jax.Array, ...]:
        expected = self.signature.arguments
        if len(arrays) != len(expected):
            raise Error(f"the program takes {len(expected)} arguments, got {len(arrays)}")
        placed = [
            place(array, wanted, self.devices, f"argument {i}")
            for i, (array, wanted) in enumerate(zip(arrays, expected, strict=True))
        ]
        loaded = cast("Loaded", self._compiled)
        results = loaded.execute_sharded(placed).disassemble_into_single_device_arrays()
        return tuple(
            assemble(parts, held, self.devices)
            for parts, held in zip(results, self.signature.results, strict=True)
        )

    @property
    def target(self) -> str:
        """What the program was compiled for."""
        return self._backend.target

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
        return "\n".join(module.to_string() for module in self._compiled.hlo_modules())

    def collectives(self) -> tuple[Collective, ...]:
        """Return the instructions by which the devices exchange data."""
        return read_collectives(self.hlo_text())

    def memory(self) -> Memory:
        """Return how many bytes one device needs."""
        return read_memory(self._compiled)

    def cost(self) -> Cost:
        """Return XLA's estimate of one device's work."""
        return read_cost(self._compiled)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the program to a file for `sdy.load_executable`.

        Raises:
          Error: if the file cannot be written, or if the function's arguments or results hold
            containers of a class that cannot be imported by its name.

        """
        from sdy.compile.saved import save

        save(path, self.signature, self._compiled, self._backend, self._trees)


def _shardings(types: tuple[ShardedType, ...]) -> tuple[HloSharding, ...]:
    return tuple(value.sharding for value in types)
