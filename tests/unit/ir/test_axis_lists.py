"""Axes of collectives: attribute to value and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sdy.dialect.axes import AxisRef
from sdy.ir.axis_lists import (
    AllToAllParam,
    axes_attribute,
    axes_per_dim_attribute,
    params_attribute,
    read_axes,
    read_axes_per_dim,
    read_params,
)
from sdy.ir.context import make_context

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jaxlib.mlir import ir

X, Y, HALF = AxisRef("x"), AxisRef("y"), AxisRef.sub("z", 2, 2)


@pytest.fixture
def context() -> Iterator[ir.Context]:
    with make_context() as entered:
        yield entered


@pytest.mark.parametrize("axes", [(), (X,), (X, HALF, Y)])
def test_a_list_of_axes(context: ir.Context, axes: tuple[AxisRef, ...]) -> None:
    assert read_axes(axes_attribute(axes, context)) == axes


@pytest.mark.parametrize("axes", [(), ((),), ((X, HALF), (), (Y,))])
def test_a_list_for_each_dimension(context: ir.Context, axes: tuple[tuple[AxisRef, ...]]) -> None:
    assert read_axes_per_dim(axes_per_dim_attribute(axes, context)) == axes


def test_moves_between_dimensions(context: ir.Context) -> None:
    params = (AllToAllParam((X, HALF), 0, 12), AllToAllParam((Y,), 3, 1))
    attribute = params_attribute(params, context)
    assert str(attribute) == '#sdy<all_to_all_param_list[{"x", "z":(2)2}: 0->12, {"y"}: 3->1]>'
    assert read_params(attribute) == params


@pytest.mark.parametrize("name", ["a b", '{"', "}: 0->1", "\\", ":(1)2", "ä", "\n"])
def test_any_name_is_read_as_it_was(context: ir.Context, name: str) -> None:
    axis = AxisRef(name)
    assert read_axes(axes_attribute((axis, X), context)) == (axis, X)
    params = (AllToAllParam((axis,), 0, 1), AllToAllParam((X,), 2, 3))
    assert read_params(params_attribute(params, context)) == params
