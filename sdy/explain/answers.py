"""What is said of one value: why it is split where it is, and why not where it is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sdy.explain.why_text import why_text

if TYPE_CHECKING:
    from sdy.dialect.axes import AxisRef
    from sdy.explain.annotations import Annotation
    from sdy.explain.program import Op, Value
    from sdy.explain.why import Chain
    from sdy.explain.why_not import Conflict

__all__ = ["Removal", "Why", "WhyNot"]


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Why a dimension is not split, or not split along an axis.

    Attributes:
      dim: the dimension.
      axis: the axis that was asked about; None for any.
      conflicts: where axes came near, and what stopped them; those nearest to the dimension.
      closed_by: the annotation that closes the dimension; None where it is open.
      used_in: the dimension that the axis splits instead; None where it splits none.
      is_tied: whether an op with a sharding rule ties the dimension to one of another tensor.
      without_rule: the names of the ops around the value that have no sharding rule.

    """

    dim: int
    axis: AxisRef | None
    conflicts: tuple[Conflict, ...]
    closed_by: Annotation | None
    used_in: int | None
    is_tied: bool
    without_rule: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Removal:
    """Axes that propagation gave to a dimension, and that the export took away again.

    XLA has no way to take an argument, or to give a result, that is split unevenly.

    Attributes:
      dim: the dimension.
      axes: the axes.
      size: of the dimension.
      parts: the number of parts that the axes, with those before them, ask for.

    """

    dim: int
    axes: tuple[AxisRef, ...]
    size: int
    parts: int


@dataclass(frozen=True, slots=True)
class Why:
    """Why a value is sharded as it is. It prints as a text for people.

    Attributes:
      value: the value.
      op: the op that gives it, or that has it as an argument of a region; None for arguments and
        results of functions.
      chains: how each axis came to it, for the dimensions and axes that were asked about.
      why_not: what kept the other dimensions from being split.
      removed: what the export took away from it.
      came_from: the value that a reshard, made by the export, has brought to another sharding;
        None where the value is not a result of such an op. There are no chains then.
      needed_by: the ops for which that has been done.

    """

    value: Value
    op: Op | None
    chains: tuple[Chain, ...]
    why_not: tuple[WhyNot, ...]
    removed: tuple[Removal, ...] = ()
    came_from: Value | None = None
    needed_by: tuple[Op, ...] = ()

    def __str__(self) -> str:
        return why_text(self)
