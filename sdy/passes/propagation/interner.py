"""Numbers for shardings, and the attributes that are written for them.

A number stands for each distinct sharding, 0 for none at all, which is not the same as an open
empty one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from jaxlib.mlir import ir

    from sdy.dialect.sharding import TensorSharding
    from sdy.ir.attributes import AttributeCodec

__all__ = ["NO_SHARDING", "Interner", "ShardingAttributes"]

NO_SHARDING: Final = 0


class Interner:
    """A number for every distinct sharding."""

    def __init__(self) -> None:
        self._values: list[TensorSharding | None] = [None]
        self._numbers: dict[TensorSharding, int] = {}

    def number(self, sharding: TensorSharding | None) -> int:
        """Return the number of a sharding."""
        if sharding is None:
            return NO_SHARDING
        number = self._numbers.setdefault(sharding, len(self._values))
        if number == len(self._values):
            self._values.append(sharding)
        return number

    @property
    def count(self) -> int:
        """How many numbers there are, that of no sharding included."""
        return len(self._values)

    def sharding(self, number: int) -> TensorSharding | None:
        """Return the sharding of a number."""
        return self._values[number]

    def known(self, number: int) -> TensorSharding:
        """Return the sharding of a number that is not that of no sharding."""
        sharding = self._values[number]
        if sharding is None:
            raise ValueError("a tensor cannot lose its sharding")
        return sharding

    def all_shardings(self) -> list[TensorSharding | None]:
        """Return all shardings, by number."""
        return list(self._values)


class ShardingAttributes:
    """The attributes of interned shardings, each made once.

    Attributes:
      interner: of the shardings.
      codec: makes the attributes.

    """

    def __init__(self, interner: Interner, codec: AttributeCodec) -> None:
        self.interner = interner
        self.codec = codec
        self._attributes: dict[int, ir.Attribute] = {}
        self._lists: dict[tuple[int, ...], ir.Attribute] = {}

    def attribute(self, number: int) -> ir.Attribute:
        """Return the `#sdy.sharding` of a number."""
        attribute = self._attributes.get(number)
        if attribute is None:
            attribute = self.codec.attribute(self.interner.known(number))
            self._attributes[number] = attribute
        return attribute

    def list_attribute(self, numbers: tuple[int, ...]) -> ir.Attribute:
        """Return the `#sdy.sharding_per_value` of numbers."""
        attribute = self._lists.get(numbers)
        if attribute is None:
            known = self.interner.known
            shardings = tuple([known(number) for number in numbers])
            attribute = self._lists[numbers] = self.codec.list_attribute(shardings)
        return attribute
