"""Sums of communication: by kind of collective, by mesh axes, and by line of the source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sdy.explain.communication import Communication
    from sdy.explain.locations import Frame

_Key = TypeVar("_Key")

__all__ = ["Total", "Totals", "total_up"]


@dataclass(frozen=True, slots=True)
class Total:
    """What some collectives come to in one run of a program.

    Attributes:
      count: how many are run.
      bytes: how many a device sends.
      seconds: the time one after the other; None without a topology.

    """

    count: int = 0
    bytes: int = 0
    seconds: float | None = 0.0

    def plus(self, count: int, bytes_: int, seconds: float | None) -> Total:
        """Return this and more."""
        both = None if self.seconds is None or seconds is None else self.seconds + seconds
        return Total(self.count + count, self.bytes + bytes_, both)


@dataclass(frozen=True, slots=True)
class Totals:
    """What the communication of a program comes to, the greatest first.

    Attributes:
      all: of the whole program.
      by_kind: by the kind of collective.
      by_axes: by the axes along which devices exchange data, as `data` or `data, model`.
      by_line: by the innermost line of the source; None where it is not known.

    """

    all: Total
    by_kind: Mapping[str, Total]
    by_axes: Mapping[str, Total]
    by_line: Mapping[Frame | None, Total]


def total_up(communications: Iterable[Communication]) -> Totals:
    """Return the sums of points of communication."""
    everything = Total()
    by_kind: dict[str, Total] = {}
    by_axes: dict[str, Total] = {}
    by_line: dict[Frame | None, Total] = {}
    for point in communications:
        line = point.place.frames[0] if point.place.frames else None
        for collective in point.collectives:
            axes = ", ".join(str(axis).replace('"', "") for axis in collective.axes)
            seconds = None if collective.seconds is None else point.times * collective.seconds
            amount = point.times, point.times * collective.bytes, seconds
            everything = everything.plus(*amount)
            by_kind[collective.kind] = by_kind.get(collective.kind, Total()).plus(*amount)
            by_axes[axes] = by_axes.get(axes, Total()).plus(*amount)
            by_line[line] = by_line.get(line, Total()).plus(*amount)
    return Totals(everything, _sorted(by_kind), _sorted(by_axes), _sorted(by_line))


def _sorted(totals: Mapping[_Key, Total]) -> dict[_Key, Total]:
    return dict(sorted(totals.items(), key=lambda item: -item[1].bytes))
