"""The axes that sdy collectives work on: attributes that MLIR's Python bindings have no class for.

Three attributes: `#sdy<axis_ref_list{...}>`, `#sdy<list_of_axis_ref_lists[{...}, ...]>` with one
list per dimension, and `#sdy<all_to_all_param_list[{...}: 0->1, ...]>`. They are read from their
text and built from it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from jaxlib.mlir import ir

from sdy.dialect.axes import AxisRef, SubAxis

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = [
    "AllToAllParam",
    "AxesPerDim",
    "axes_attribute",
    "axes_per_dim_attribute",
    "params_attribute",
    "read_axes",
    "read_axes_per_dim",
    "read_params",
]

AxesPerDim: TypeAlias = "tuple[tuple[AxisRef, ...], ...]"

_NAME = r'"(?:[^"\\]|\\.)*"'
_LIST = re.compile(rf"\{{((?:{_NAME}|[^\"{{}}])*)\}}(?:: *(\d+) *-> *(\d+))?")
_AXIS = re.compile(rf"({_NAME})(?::\((\d+)\)(\d+))?")
_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2}|.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class AllToAllParam:
    """Axes that an all-to-all moves from one dimension to another."""

    axes: tuple[AxisRef, ...]
    source: int
    target: int

    def __str__(self) -> str:
        return f"{_braced(self.axes)}: {self.source}->{self.target}"


def read_axes(attribute: ir.Attribute) -> tuple[AxisRef, ...]:
    """Return the axes of an `axis_ref_list`."""
    (axes,) = read_axes_per_dim(attribute)
    return axes


def read_axes_per_dim(attribute: ir.Attribute) -> AxesPerDim:
    """Return the axes of a `list_of_axis_ref_lists`, one tuple per dimension."""
    return tuple(axes for axes, _, _ in _lists(attribute))


def read_params(attribute: ir.Attribute) -> tuple[AllToAllParam, ...]:
    """Return the moves of an `all_to_all_param_list`."""
    return tuple(
        AllToAllParam(axes, int(source), int(target)) for axes, source, target in _lists(attribute)
    )


def axes_attribute(axes: Iterable[AxisRef], context: ir.Context) -> ir.Attribute:
    """Return the `axis_ref_list` of `axes`."""
    return ir.Attribute.parse(f"#sdy<axis_ref_list{_braced(axes)}>", context)


def axes_per_dim_attribute(
    axes_per_dim: Sequence[Sequence[AxisRef]], context: ir.Context
) -> ir.Attribute:
    """Return the `list_of_axis_ref_lists` with the axes of each dimension."""
    lists = ", ".join(map(_braced, axes_per_dim))
    return ir.Attribute.parse(f"#sdy<list_of_axis_ref_lists[{lists}]>", context)


def params_attribute(params: Iterable[AllToAllParam], context: ir.Context) -> ir.Attribute:
    """Return the `all_to_all_param_list` of `params`."""
    moves = ", ".join(map(str, params))
    return ir.Attribute.parse(f"#sdy<all_to_all_param_list[{moves}]>", context)


def _braced(axes: Iterable[AxisRef]) -> str:
    return "{" + ", ".join(map(str, axes)) + "}"


def _lists(attribute: ir.Attribute) -> Iterator[tuple[tuple[AxisRef, ...], str, str]]:
    for match in _LIST.finditer(str(attribute)):
        yield tuple(map(_axis, _AXIS.finditer(match[1]))), match[2], match[3]


def _axis(match: re.Match[str]) -> AxisRef:
    name, pre_size, size = match.groups()
    return AxisRef(_unquote(name), SubAxis(int(pre_size), int(size)) if pre_size else None)


def _unquote(quoted: str) -> str:
    text = quoted[1:-1]
    if "\\" not in text:
        return text
    unescaped = _ESCAPE.sub(_unescape, text.encode("utf-8", "surrogateescape"))
    return unescaped.decode("utf-8", "surrogateescape")


def _unescape(match: re.Match[bytes]) -> bytes:
    return bytes.fromhex(match[1].decode()) if len(match[1]) == 2 else match[1]
