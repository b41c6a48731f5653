"""The `#sdy<manual_axes{...}>` of manual computations, and of ops on their way to and from XLA."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import sdy as mlir_sdy

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["manual_axes_attribute", "read_manual_axes"]


def manual_axes_attribute(axes: Iterable[str], context: ir.Context) -> ir.Attribute:
    """Return the attribute that lists `axes`."""
    names = [ir.StringAttr.get(axis, context) for axis in axes]
    return mlir_sdy.ManualAxesAttr.get(names, context)


def read_manual_axes(attribute: ir.Attribute | None) -> tuple[str, ...]:
    """Return the axes that an attribute lists; none where there is no attribute."""
    return () if attribute is None else tuple(mlir_sdy.ManualAxesAttr(attribute))
