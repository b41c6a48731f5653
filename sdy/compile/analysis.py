"""What XLA says a compiled program needs: memory and work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jaxlib import _jax

from sdy.compile.cpu import cpu_backend

if TYPE_CHECKING:
    from sdy.compile.backend import Compiled

__all__ = ["Cost", "Memory", "read_cost", "read_memory"]


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory that one device needs to run a program, in bytes.

    Attributes:
      arguments: for the parts of the arguments.
      results: for the parts of the results.
      aliased: of the results, what takes the place of arguments.
      temporaries: for everything between.
      code: for the program; 0 where XLA does not say.

    """

    arguments: int
    results: int
    aliased: int
    temporaries: int
    code: int

    @property
    def total(self) -> int:
        """All that is in use at once, at most."""
        return self.arguments + self.results - self.aliased + self.temporaries + self.code


@dataclass(frozen=True, slots=True)
class Cost:
    """The work of one device for one run, as XLA estimates it; loops count as one turn.

    Attributes:
      flops: floating-point operations.
      bytes_accessed: bytes that instructions read and write.
      seconds: the time on the device; None where XLA has no estimate.

    """

    flops: float
    bytes_accessed: float
    seconds: float | None


def read_memory(compiled: Compiled) -> Memory:
    """Return what XLA's buffer assignment decided."""
    stats = compiled.get_compiled_memory_stats()
    return Memory(
        arguments=stats.argument_size_in_bytes,
        results=stats.output_size_in_bytes,
        aliased=stats.alias_size_in_bytes,
        temporaries=stats.temp_size_in_bytes,
        code=stats.generated_code_size_in_bytes,
    )


def read_cost(compiled: Compiled) -> Cost:
    """Return the analysis of the target's compiler, or XLA's general one where it has none."""
    try:
        properties = compiled.cost_analysis()
    except RuntimeError:
        properties = _general_analysis(compiled)
    return Cost(
        flops=properties.get("flops", 0.0),
        bytes_accessed=properties.get("bytes accessed", 0.0),
        seconds=properties.get("optimal_seconds"),
    )


def _general_analysis(compiled: Compiled) -> dict[str, Any]:
    client = cpu_backend(1).client
    total: dict[str, float] = {}
    for module in compiled.hlo_modules():
        for key, value in _jax.hlo_module_cost_analysis(client, module).items():
            total[key] = total.get(key, 0.0) + value
    total.pop("optimal_seconds", None)
    return total
