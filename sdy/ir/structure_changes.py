"""What passes have changed in a module that its structure, read before, does not tell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxlib.mlir import ir

__all__ = ["Changes"]


@dataclass(slots=True)
class Changes:
    """What has changed in a module since its structure was read.

    Attributes:
      erased: the numbers of ops that are no more.
      replaced: for values whose users use another one now, that value; the order of the uses of
        both is not known.
      attributes: for names of attributes that were set or dropped, on which ops, by number, to
        what; None where they were dropped.
      properties: the names of ops that have other properties.

    """

    erased: set[int] = field(default_factory=set)
    replaced: dict[int, int] = field(default_factory=dict)
    attributes: dict[str, dict[int, ir.Attribute | None]] = field(default_factory=dict)
    properties: set[str] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.erased or self.replaced or self.attributes or self.properties)
