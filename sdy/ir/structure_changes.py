"""What passes have changed in a module that its structure, read before, does not tell."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Changes"]


@dataclass(slots=True)
class Changes:
    """What has changed in a module since its structure was read.

    Attributes:
      erased: the numbers of ops that are no more.
      replaced: for values whose users use another one now, that value.
      reordered: values whose uses may be in another order than the structure tells.
      attributes: the names of attributes that were set or dropped.
      properties: the names of ops that have other properties.

    """

    erased: set[int] = field(default_factory=set)
    replaced: dict[int, int] = field(default_factory=dict)
    reordered: set[int] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    properties: set[str] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(
            self.erased or self.replaced or self.reordered or self.properties or self.attributes
        )
