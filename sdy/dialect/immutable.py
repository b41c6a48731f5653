"""What the values of the dialect have in common: they are immutable, and made by the thousand.

They are frozen dataclasses whose `__init__`, `__eq__` and `__hash__` are written out. Where the
package is compiled, those become C; the ones that `dataclass` generates would be interpreted still.
And there they are `acyclic`: the garbage collector need not follow them.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from mypy_extensions import mypyc_attr

__all__ = ["Immutable"]


@mypyc_attr(acyclic=True)
class Immutable:
    """The base of values that are made anew from their fields where they are copied or pickled."""

    __slots__ = ()

    def __reduce__(self) -> tuple[object, ...]:
        value: Any = self
        arguments = [getattr(value, field.name) for field in fields(value) if field.init]
        return type(self), tuple(arguments)
