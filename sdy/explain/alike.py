"""Annotations that only numbers tell apart, as those of the layers of a model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sdy.explain.columns import count_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sdy.explain.annotations import Annotation
    from sdy.explain.program import Program, Value

__all__ = ["alike", "common_name", "group_text", "pattern"]

_NUMBER = re.compile(r"\d+")
_MOST_NAMED = 3


def pattern(text: str) -> str:
    """Return a text with all numbers alike."""
    return _NUMBER.sub("*", text)


def common_name(texts: Sequence[str]) -> str:
    """Return what stands for several texts of one pattern: the numbers that differ are stars."""
    columns = zip(*map(_NUMBER.findall, texts), strict=True)
    numbers = iter([column[0] if len(set(column)) == 1 else "*" for column in columns])
    return _NUMBER.sub(lambda _: next(numbers), texts[0])


def group_text(values: Sequence[Value]) -> str:
    """Return what several values are called: `params[*]['w'] (2 arguments)`; one as it is."""
    first = values[0]
    if len(values) == 1:
        return str(first)
    kind = "value"
    if first.op is None:
        kind = "result" if first.name.startswith("@") else "argument"
    if first.label:
        name = common_name([value.label for value in values])
    else:
        name = ", ".join(value.spelling for value in values[:_MOST_NAMED])
        name += ", ..." if len(values) > _MOST_NAMED else ""
    return f"{name} ({count_text(len(values), kind)})"


def alike(
    program: Program, annotations: Sequence[Annotation], value: Value
) -> Iterator[tuple[Value, ...]]:
    """Yield groups of annotated values with one that are annotated as it is, the smallest first.

    Those have the same kind of annotation and the same sharding. Arguments and results have labels
    that differ in the first number, then in the first two, and so on: `params[*]['w1']` comes
    before `params[*]['w*']`. Other values come from the same known line.

    Args:
      program: the program.
      annotations: of the program.
      value: one of the values with annotations.

    """
    own = next((each for each in annotations if each.value == value.number), None)
    if own is None:
        return
    candidates = [
        program.values[each.value]
        for each in annotations
        if each.value is not None and (each.kind, each.sharding) == (own.kind, own.sharding)
    ]
    met: set[tuple[Value, ...]] = {(value,)}
    for varied in range(1, len(_NUMBER.findall(value.label)) + 1) if value.op is None else [0]:
        key = _key(value, varied)
        group = tuple([each for each in candidates if key and _key(each, varied) == key])
        if group and group not in met:
            met.add(group)
            yield group


def _key(value: Value, varied: int) -> object:
    """Return what is the same for alike values; nothing where that cannot be told.

    Args:
      value: one of them.
      varied: how many of the first numbers in its label may differ.

    """
    return _NUMBER.sub("*", value.label, count=varied) if value.op is None else value.place.frames
