"""How one dimension of a tensor is sharded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

from mypy_extensions import mypyc_attr

from sdy.dialect.axes import AxisRef, axes_size
from sdy.dialect.immutable import Immutable

if TYPE_CHECKING:
    from sdy.dialect.mesh import Mesh

__all__ = ["DimensionSharding"]

DEFAULT_PRIORITY: Final = 0


@final
@mypyc_attr(acyclic=True)
@dataclass(frozen=True, slots=True, init=False, eq=False)
class DimensionSharding(Immutable):
    """The axes that split one dimension, major first.

    Attributes:
      axes: the axes and sub-axes.
      is_closed: whether propagation may not add axes.
      priority: in which round of propagation the dimension takes part, 0 first; None is 0.

    """

    axes: tuple[AxisRef, ...]
    is_closed: bool
    priority: int | None

    def __init__(
        self, axes: tuple[AxisRef, ...] = (), is_closed: bool = True, priority: int | None = None
    ) -> None:
        object.__setattr__(self, "axes", axes)
        object.__setattr__(self, "is_closed", is_closed)
        object.__setattr__(self, "priority", priority)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DimensionSharding):
            return NotImplemented
        return (
            self.axes == other.axes
            and self.is_closed == other.is_closed
            and self.priority == other.priority
        )

    def __hash__(self) -> int:
        return hash((self.axes, self.is_closed, self.priority))

    def __str__(self) -> str:
        parts = [str(axis) for axis in self.axes]
        if not self.is_closed:
            parts.append("?")
        suffix = "" if self.priority is None else f"p{self.priority}"
        return "{" + ", ".join(parts) + "}" + suffix

    @property
    def priority_or_default(self) -> int:
        """The priority, 0 where none is given."""
        return DEFAULT_PRIORITY if self.priority is None else self.priority

    def sharded_size(self, mesh: Mesh) -> int:
        """Return into how many parts the dimension is split."""
        return axes_size(self.axes, mesh)

    def closed(self) -> DimensionSharding:
        """Return this, closed."""
        return DimensionSharding(self.axes, True, self.priority)

    def opened(self) -> DimensionSharding:
        """Return this, open."""
        return DimensionSharding(self.axes, False, self.priority)

    def without_priority(self) -> DimensionSharding:
        """Return this without a priority of its own."""
        return DimensionSharding(self.axes, self.is_closed)
