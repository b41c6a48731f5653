"""Removes sub-axes from the shardings of what goes into and comes out of the program."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, ClassVar

from sdy.ir.main_function import main_function
from sdy.ir.op_names import FUNCTION
from sdy.ir.sharding_walk import transform_signature
from sdy.passes.base import Pass

if TYPE_CHECKING:
    from sdy.dialect.sharding import DimensionSharding, TensorSharding
    from sdy.ir.indexed_module import IndexedModule

__all__ = ["RemoveSubAxesInInputOutputShardings"]


@dataclass(frozen=True, slots=True)
class RemoveSubAxesInInputOutputShardings(Pass):
    """Removes sub-axes, and the axes minor to them, from arguments and results of main.

    Some frameworks have no way to say such a sharding to the user. Closed dimensions are the
    user's own and stay. The main function is the one named main, or the only one.
    """

    name: ClassVar[str] = "sdy-remove-sub-axes-in-input-output-shardings"

    def run(self, module: IndexedModule) -> None:
        """Remove the sub-axes in place; an error where none of several functions is main."""
        main = main_function(module, is_read_only=True)
        if main is not None:
            transform_signature(main, _without_sub_axes, module.codec)
            module.properties_changed(FUNCTION)


def _without_sub_axes(sharding: TensorSharding) -> TensorSharding:
    return replace(sharding, dimensions=tuple(map(_shorten, sharding.dimensions)))


def _shorten(dimension: DimensionSharding) -> DimensionSharding:
    if dimension.is_closed:
        return dimension
    axes = takewhile(lambda axis: axis.sub_axis is None, dimension.axes)
    return replace(dimension, axes=tuple(axes))
