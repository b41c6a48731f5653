"""The text of cases: types, attributes, functions of one op."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = [
    "Cases",
    "Draw",
    "array",
    "case",
    "combiner",
    "module_of",
    "tensor",
    "words",
]

Cases: TypeAlias = "Iterator[str]"
SIZES = (1, 1, 2, 3, 4, 6, 8, 12, 16)


class Draw(random.Random):
    """A seeded source of dimension sizes, shapes and choices."""

    def __init__(self, seed: int, sizes: Sequence[int] = SIZES) -> None:
        super().__init__(seed)
        self._sizes = sizes

    def size(self) -> int:
        """Return a dimension size."""
        return self.choice(self._sizes)

    def shape(self, low: int = 0, high: int = 4) -> list[int]:
        """Return a shape with a rank from `low` to `high`."""
        return [self.size() for _ in range(self.randint(low, high))]

    def subset(self, rank: int) -> list[int]:
        """Return some of the dimensions, in order."""
        return sorted(self.sample(range(rank), self.randint(0, rank)))


def words(text: str) -> list[str]:
    """Return the words of a text."""
    return text.split()


def module_of(cases: Sequence[str]) -> str:
    """Return a module with each case as a function, named by its number."""
    functions = (case.replace("@case(", f"@case{i}(", 1) for i, case in enumerate(cases))
    return 'sdy.mesh @mesh = <["x"=2, "y"=4]>\n' + "\n".join(functions)


def tensor(shape: Sequence[int], element: str = "f32") -> str:
    """Return the text of a tensor type."""
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def case(
    name: str,
    operands: Sequence[str],
    results: Sequence[str],
    attributes: str = "",
    region: str = "",
) -> str:
    """Return a function of one op in generic form."""
    arguments = ", ".join(f"%{i}: {type_}" for i, type_ in enumerate(operands))
    values = ", ".join(f"%{i}" for i in range(len(operands)))
    body = f"({{ {region} }})" if region else ""
    properties = f"<{{{attributes}}}>" if attributes else ""
    left = f"%r:{len(results)} = " if results else ""
    return (
        f"func.func @case({arguments}) {{ {left}"
        f'"{name}"({values}) {properties} {body} '
        f": ({', '.join(operands)}) -> ({', '.join(results)}) return }}"
    )


def combiner(elements: Sequence[str], body: str, returned: str) -> str:
    """Return a region of two scalar arguments for each element type: %a0, %a1, ..., %b0, ..."""
    sides = [f"%{side}{i}: tensor<{e}>" for side in "ab" for i, e in enumerate(elements)]
    types = ", ".join(f"tensor<{e}>" for e in elements)
    return f'^bb0({", ".join(sides)}): {body} "stablehlo.return"({returned}) : ({types}) -> ()'


def array(values: Sequence[int]) -> str:
    """Return the text of a dense array of i64."""
    return f"array<i64: {', '.join(map(str, values))}>" if values else "array<i64>"
