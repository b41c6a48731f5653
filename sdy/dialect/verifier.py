"""The invariants of meshes, shardings and manual axes, one function each, in Shardy's wording.

Every function returns nothing and raises VerifyError where its invariant is broken. A shape is
one entry per dimension, None for a dynamic one. The rules of ops are in `rule_verifier`.
"""

from __future__ import annotations

import math
import operator
import reprlib
from collections.abc import Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING

from sdy.dialect.errors import ArgumentTypeError, VerifyError
from sdy.dialect.names import is_utf8, quote, symbol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sdy.dialect.axes import AxisRef
    from sdy.dialect.mesh import Mesh, MeshAxis
    from sdy.dialect.sharding import (
        DimensionSharding,
        ManualAxes,
        TensorSharding,
        TensorShardingPerValue,
    )

__all__ = [
    "Shape",
    "at_value",
    "unbound_mesh",
    "unknown_axis",
    "unknown_mesh",
    "verify_divisibility",
    "verify_manual_axes",
    "verify_manual_axes_first",
    "verify_manual_divisibility",
    "verify_mesh",
    "verify_not_manual",
    "verify_rank",
    "verify_shape",
    "verify_sharding",
    "verify_sharding_of_non_tensor",
    "verify_sharding_per_value",
    "verify_unbound_sharding",
]

Shape = Sequence[int | None]

_INT64_MAX = 2**63 - 1


def verify_mesh(mesh: Mesh) -> None:
    """Check all that must hold for a mesh."""
    _verify_names_are_text(mesh)
    _verify_axis_sizes(mesh.axes)
    _verify_device_ids_are_int64(mesh.device_ids)
    if not mesh.axes:
        _verify_at_most_one_device_id(mesh.device_ids)
        return
    _verify_axis_names_are_unique(mesh.axes)
    if mesh.device_ids:
        _verify_device_count(mesh)
        _verify_device_ids_are_a_permutation(mesh.device_ids)


def _verify_axis_sizes(axes: Iterable[MeshAxis]) -> None:
    for axis in axes:
        if axis.size < 1:
            raise VerifyError(f"axis size must be at least 1, got: {axis.size}")
        if axis.size > _INT64_MAX:
            raise VerifyError(f"axis size must be at most 2^63-1, got: {axis.size}")


def _verify_names_are_text(mesh: Mesh) -> None:
    for name in (*mesh.axis_names, *([] if mesh.name is None else [mesh.name])):
        if not is_utf8(name, "surrogateescape"):
            raise VerifyError(f"name has half of a surrogate, which is no character: {name!a}")


def _verify_device_ids_are_int64(device_ids: Sequence[int]) -> None:
    lowest = min(device_ids, default=0)
    if lowest < 0:
        raise VerifyError(f"device id must be non-negative, got: {lowest}")
    highest = max(device_ids, default=0)
    if highest > _INT64_MAX:
        raise VerifyError(f"device id must be at most 2^63-1, got: {highest}")


def _verify_at_most_one_device_id(device_ids: Sequence[int]) -> None:
    if len(device_ids) > 1:
        raise VerifyError("axes is empty and device_ids has more than one element")


def _verify_axis_names_are_unique(axes: Iterable[MeshAxis]) -> None:
    seen: set[str] = set()
    for axis in axes:
        if axis.name in seen:
            raise VerifyError(f"duplicate axis name: {quote(axis.name)}")
        seen.add(axis.name)


def _verify_device_count(mesh: Mesh) -> None:
    if mesh.size != len(mesh.device_ids):
        raise VerifyError(
            "total product of axis sizes must match total number of device ids, "
            f"got: {mesh.size} != {len(mesh.device_ids)}"
        )


def _verify_device_ids_are_a_permutation(device_ids: Sequence[int]) -> None:
    ordered = sorted(device_ids)
    if ordered != list(range(len(ordered))):
        raise VerifyError(
            "sorted device ids must be iota(product(axes)), got: " + _shortened(ordered)
        )


def _shortened(numbers: Sequence[int]) -> str:
    """Return `numbers` as text, cut where a message would get too long to read."""
    text = ", ".join(map(str, numbers[:16]))
    return text if len(numbers) <= 16 else f"{text}, ..."


def verify_sharding(sharding: TensorSharding, mesh: Mesh, shape: Shape | None = None) -> None:
    """Check all that must hold for `sharding` on `mesh`, of a tensor of `shape` if given."""
    if mesh.is_maximal:
        _verify_maximal(sharding)
        return
    if shape is not None:
        verify_rank(sharding, shape)
    axis_sizes = {axis.name: axis.size for axis in mesh.axes}
    _verify_priorities(sharding.dimensions)
    _verify_axes_are_known(sharding.axes(), axis_sizes)
    _verify_axes_are_unique(sharding.axes())
    for axes in _axis_lists(sharding):
        _verify_nothing_to_merge(axes)
    _verify_mesh_order(sharding.replicated, mesh, "replicated")
    _verify_mesh_order(sharding.unreduced, mesh, "unreduced")
    _verify_sub_axes(sharding.axes(), axis_sizes)


def verify_unbound_sharding(sharding: TensorSharding, shape: Shape | None = None) -> None:
    """Check what must hold for `sharding` whatever its mesh is.

    A sharding without dimensions fits a tensor of any rank: its mesh may be maximal.
    """
    if shape is not None and sharding.dimensions:
        verify_rank(sharding, shape)
    _verify_priorities(sharding.dimensions)
    _verify_axes_are_unique(sharding.axes())
    for axes in _axis_lists(sharding):
        _verify_nothing_to_merge(axes)
    _verify_sub_axes(sharding.axes(), {})


def _verify_maximal(sharding: TensorSharding) -> None:
    """Check that a sharding on a maximal mesh says nothing more than that."""
    if sharding.dimensions or not sharding.has_no_axes:
        raise VerifyError(
            "a maximal sharding can only have a sharding with rank 0 and no replicated or "
            "unreduced axes."
        )


def verify_rank(sharding: TensorSharding, shape: Shape) -> None:
    """Check that there is one dimension sharding per dimension of the tensor."""
    if sharding.rank != len(shape):
        raise VerifyError(f"sharding doesn't match tensor rank: {sharding.rank} != {len(shape)}")


def verify_shape(shape: Shape, *, may_be_dynamic: bool = False) -> None:
    """Check that a shape is one: sizes of at least 0, or None for a dynamic one where allowed.

    Raises:
      ArgumentTypeError: where it is no sequence of integers.

    """
    try:
        for size in shape:
            if size is None and may_be_dynamic:
                continue
            if not 0 <= operator.index(size) <= _INT64_MAX:  # type: ignore[arg-type]
                raise VerifyError(f"dimension size must be between 0 and 2^63-1, got: {size}")
    except TypeError:
        raise ArgumentTypeError(
            f"shape: expected the size of each dimension, got {reprlib.repr(shape)}"
        ) from None


def _verify_priorities(dimensions: Sequence[DimensionSharding]) -> None:
    """Check that priorities are not negative, and that they have something to say."""
    for index, dimension in enumerate(dimensions):
        if dimension.priority is None:
            continue
        if dimension.priority < 0:
            raise VerifyError(f"dim {index} has a negative priority")
        if dimension.is_closed and not dimension.axes:
            raise VerifyError(f"dim {index} is empty and closed but has a priority")


def _verify_axes_are_known(axes: Iterable[AxisRef], axis_sizes: dict[str, int]) -> None:
    for axis in axes:
        if axis.name not in axis_sizes:
            raise unknown_axis(axis.name)


def _verify_axes_are_unique(axes: Iterable[AxisRef]) -> None:
    seen: set[AxisRef] = set()
    for axis in axes:
        if axis in seen:
            raise VerifyError(f"duplicate axis ref: {axis}")
        seen.add(axis)


def _axis_lists(sharding: TensorSharding) -> list[tuple[AxisRef, ...]]:
    return [
        *(dimension.axes for dimension in sharding.dimensions),
        sharding.replicated,
        sharding.unreduced,
    ]


def _verify_nothing_to_merge(axes: Sequence[AxisRef]) -> None:
    for first, second in pairwise(axes):
        if first.can_merge(second):
            raise VerifyError(f"two consecutive sub-axes can be merged: {first}, {second}")


def _verify_mesh_order(axes: Sequence[AxisRef], mesh: Mesh, kind: str) -> None:
    keys = [axis.mesh_order(mesh) for axis in axes]
    if any(second < first for first, second in pairwise(keys)):
        raise VerifyError(f"{kind} axes are not ordered w.r.t. mesh")


def _verify_sub_axes(axes: Iterable[AxisRef], axis_sizes: dict[str, int]) -> None:
    """Check each sub-axis by itself, against its full axis, and against the others of that axis.

    An axis of unknown size is only checked for what holds whatever the size is.
    """
    by_name: dict[str, list[AxisRef]] = {}
    for axis in axes:
        by_name.setdefault(axis.name, []).append(axis)
    for name, references in by_name.items():
        sub_axes = sorted(axis for axis in references if axis.sub_axis)
        if sub_axes and len(sub_axes) < len(references):
            raise VerifyError(f"both sub-axis and full-axis are used for axis name: {quote(name)}")
        for sub_axis in sub_axes:
            _verify_sub_axis(sub_axis, axis_sizes.get(name))
        for first, second in pairwise(sub_axes):
            if first.overlaps(second):
                raise VerifyError(f"overlapping sub-axes: {first}, {second}")


def _verify_sub_axis(axis: AxisRef, axis_size: int | None) -> None:
    part = axis.sub_axis
    if part is None:
        return
    if part.pre_size < 1:
        raise VerifyError(f"sub-axis pre-size must be at least 1: {axis}")
    if part.size <= 1:
        raise VerifyError(f"sub-axis sizes must be greater than 1: {axis}")
    if axis_size is None:
        return
    if axis_size % part.next_pre_size:
        raise VerifyError(
            f"sub-axis next pre-size {part.next_pre_size} doesn't divide the size of the full "
            f"axis {axis_size}: {axis}"
        )
    if part.size == axis_size:
        raise VerifyError(f"sub-axis size is equal to the full axis size: {axis}")


def verify_divisibility(sharding: TensorSharding, mesh: Mesh, shape: Shape) -> None:
    """Check that every dimension is divisible by the product of its axes.

    Shardings need not be so; this is for those who want no padding.
    """
    for index, (size, dimension) in enumerate(zip(shape, sharding.dimensions, strict=True)):
        parts = dimension.sharded_size(mesh)
        if size is not None and size % parts:
            raise VerifyError(
                f"dim {index} with size {size} is not divisible by its sharded size {parts}"
            )


def verify_sharding_of_non_tensor(sharding: TensorSharding, type_text: str) -> None:
    """Check the sharding of a value that has no shape, such as a token."""
    if sharding.dimensions or not sharding.has_no_axes:
        raise VerifyError(
            "non-shaped tensors can only have a sharding with rank 0 and no replicated or "
            f"unreduced axes. type: {type_text}, sharding: #sdy.sharding<{sharding.body}>"
        )


def verify_sharding_per_value(
    per_value: TensorShardingPerValue, shapes: Sequence[Shape | None]
) -> None:
    """Check each sharding, on its own mesh, for the value of that place in `shapes`.

    An op without results may have one sharding, if that splits nothing.
    """
    shardings = per_value.shardings
    if not shapes and len(shardings) == 1 and shardings[0].is_fully_replicated:
        with at_value(0, 0):
            _verify_sharding_of_no_value(shardings[0])
        return
    if len(shardings) != len(shapes):
        raise VerifyError(
            f"shardings don't match number of values: {len(shardings)} shardings vs "
            f"{len(shapes)} values"
        )
    for index, (sharding, shape) in enumerate(zip(shardings, shapes, strict=True)):
        with at_value(index, len(shapes)):
            sharding.verify(shape=shape)


def _verify_sharding_of_no_value(sharding: TensorSharding) -> None:
    _ = sharding.bound_mesh
    _verify_maximal(sharding)


@contextmanager
def at_value(index: int, count: int) -> Iterator[None]:
    """Let an error say which of `count` values is wrong."""
    try:
        yield
    except VerifyError as error:
        prefix = "- " if count == 1 else f"{index} - "
        raise VerifyError(prefix + str(error)) from None


def verify_manual_axes(manual: ManualAxes, mesh: Mesh) -> None:
    """Check that `mesh` has every manual axis."""
    for name in manual.names:
        if not mesh.has_axis(name):
            raise VerifyError(f"unknown manual axis: {quote(name)}")


def verify_not_manual(axes: Iterable[AxisRef], manual: ManualAxes) -> None:
    """Check that nothing within a manual computation refers to an axis that is manual there."""
    for axis in axes:
        if axis.name in manual.names:
            raise VerifyError(
                f"operates on axis {quote(axis.name)} which is already bound by a parent "
                "sdy.manual_computation op"
            )


def verify_manual_axes_first(sharding: TensorSharding, manual: ManualAxes) -> None:
    """Check that the manual axes of every dimension are major to its free ones."""
    for index, dimension in enumerate(sharding.dimensions):
        for first, second in pairwise(dimension.axes):
            if first.name not in manual.names and second.name in manual.names:
                raise VerifyError(
                    "must have all manual axes come before free axes in its dimension sharding "
                    f"at index {index}. Saw manual axis {second} after free axis {first}"
                )


def verify_manual_divisibility(
    sharding: TensorSharding, manual: ManualAxes, mesh: Mesh, shape: Shape
) -> None:
    """Check that the manual axes split every dimension without padding."""
    for size, dimension in zip(shape, sharding.dimensions, strict=True):
        parts = math.prod(axis.size(mesh) for axis in dimension.axes if axis.name in manual.names)
        if size is not None and size % parts:
            raise VerifyError(
                f"dimension size {size} is not divisible by the manual axes size {parts}"
            )


def unbound_mesh(name: str) -> VerifyError:
    """Return the error for a sharding of whose mesh only the name is known."""
    return VerifyError(
        f"no mesh is bound to the name @{symbol(name)}: give the mesh where the sharding is "
        "parsed, or use `sharding.bind(mesh)`"
    )


def unknown_mesh(name: str) -> VerifyError:
    """Return the error for a mesh that is not defined."""
    return VerifyError(f"unknown mesh: @{symbol(name)}")


def unknown_axis(name: str) -> VerifyError:
    """Return the error for an axis that the mesh does not have."""
    return VerifyError(f"unknown axis name: {quote(name)}")
