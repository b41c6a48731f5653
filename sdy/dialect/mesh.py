"""A mesh: a multi-dimensional view of devices with named axes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import index
from typing import TYPE_CHECKING, SupportsIndex

from sdy.dialect import verifier
from sdy.dialect.errors import ArgumentTypeError, VerifyError, check_type
from sdy.dialect.listed_devices import check_listed
from sdy.dialect.names import quote, symbol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Mesh", "MeshAxis", "symbol"]

_MOST_ARRAY_DIMENSIONS = 64  # of numpy


@dataclass(frozen=True, slots=True)
class MeshAxis:
    """A named dimension of a mesh."""

    name: str
    size: int

    def __str__(self) -> str:
        return f"{quote(self.name)}={self.size}"


@dataclass(frozen=True, slots=True, init=False)
class Mesh:
    """Devices arranged in an array with named axes, major axis first.

    Two meshes are equal if their axes, devices and names are; see `equals` for less than that.

    Attributes:
      axes: the axes; none for an empty or a maximal mesh.
      device_ids: the device at each place, row-major; empty where that is 0, 1, 2, ...
        A mesh without axes and with one device id is maximal: all of a tensor is on it.
      name: the symbol under which shardings refer to it; None for an inlined mesh.

    """

    axes: tuple[MeshAxis, ...]
    device_ids: tuple[int, ...]
    name: str | None
    _hash: int = field(init=False, repr=False, compare=False)
    _is_verified: bool = field(init=False, repr=False, compare=False)

    def __init__(
        self,
        axes: Mapping[str, SupportsIndex] | Iterable[MeshAxis] = (),
        device_ids: Iterable[int] | NDArray[np.integer] | None = None,
        name: str | None = None,
    ) -> None:
        """Make a mesh; its invariants are checked by `verify`, and where the mesh is used.

        Args:
          axes: the axes, or the size of each by name.
          device_ids: the device at each place: row-major, or as an array of the mesh's shape.
            Ids that only say 0, 1, 2, ... are dropped.
          name: the symbol under which shardings refer to the mesh.

        Raises:
          ArgumentTypeError: where an argument is of another type.

        """
        axes = _mesh_axes(axes)
        ids = _explicit_device_ids(axes, device_ids)
        check_type(name, (str, type(None)), "name", "a str or None")
        object.__setattr__(self, "axes", axes)
        object.__setattr__(self, "device_ids", ids)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "_hash", hash((axes, ids, name)))
        object.__setattr__(self, "_is_verified", False)

    def __hash__(self) -> int:
        # Kept, because shardings are looked up by the thousand and a mesh may list many devices.
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:
        return Mesh, (self.axes, self.device_ids, self.name)

    @staticmethod
    def maximal(device_id: int, name: str | None = None) -> Mesh:
        """Return the mesh that puts all of a tensor on one device."""
        return Mesh((), (device_id,), name)

    def __str__(self) -> str:
        text = f"<{self.body}>"
        return text if self.name is None else f"@{symbol(self.name)} = {text}"

    @property
    def body(self) -> str:
        """The text between the angle brackets, as MLIR has it in `#sdy.mesh<...>`."""
        ids = ", ".join(map(str, self.device_ids))
        axes = "[" + ", ".join(map(str, self.axes)) + "]"
        return f"{axes}, device_ids=[{ids}]" if self.device_ids else axes

    @property
    def axis_names(self) -> tuple[str, ...]:
        """The names of the axes, major first."""
        return tuple(axis.name for axis in self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes, major first."""
        return tuple(axis.size for axis in self.axes)

    @property
    def size(self) -> int:
        """The number of devices."""
        return math.prod(self.shape)

    @property
    def is_empty(self) -> bool:
        """Whether the mesh has neither axes nor device ids."""
        return not self.axes and not self.device_ids

    @property
    def is_maximal(self) -> bool:
        """Whether all of a tensor is on the one device of this mesh."""
        return not self.axes and len(self.device_ids) == 1

    @property
    def maximal_device(self) -> int | None:
        """The one device of a maximal mesh; None for any other."""
        return self.device_ids[0] if self.is_maximal else None

    def has_axis(self, name: str) -> bool:
        """Return whether an axis has that name."""
        return any(axis.name == name for axis in self.axes)

    def axis_size(self, name: str) -> int:
        """Return the size of the axis of that name; VerifyError where there is none."""
        for axis in self.axes:
            if axis.name == name:
                return axis.size
        raise verifier.unknown_axis(name)

    def axis_index(self, name: str) -> int:
        """Return the position of the axis of that name; VerifyError where there is none."""
        for position, axis in enumerate(self.axes):
            if axis.name == name:
                return position
        raise verifier.unknown_axis(name)

    def devices(self) -> NDArray[np.int64]:
        """Return the device ids as an array of the mesh's shape.

        Raises:
          VerifyError: where the mesh is not valid, or larger than an array can be.

        """
        if len(self.axes) > _MOST_ARRAY_DIMENSIONS:
            raise VerifyError(
                f"a mesh with {len(self.axes)} axes is no array: the limit is "
                f"{_MOST_ARRAY_DIMENSIONS} dimensions"
            )
        return self.flat_devices().reshape(self.shape)

    def flat_devices(self) -> NDArray[np.int64]:
        """Return the device ids row-major.

        Raises:
          VerifyError: where the mesh is not valid, or has too many devices to list them.

        """
        # Imported here because numpy takes longer to import than the rest of the dialect.
        import numpy as np

        self.verify()
        check_listed(self.size, "a mesh")
        if self.device_ids:
            return np.asarray(self.device_ids, dtype=np.int64)
        return np.arange(self.size, dtype=np.int64)

    def equals(self, other: Mesh, *, ignore_device_ids: bool = False) -> bool:
        """Return whether both arrange the same devices alike, whatever their names."""
        if ignore_device_ids:
            return self.axes == other.axes and self.is_maximal == other.is_maximal
        return self.axes == other.axes and self.device_ids == other.device_ids

    def renamed(self, name: str | None) -> Mesh:
        """Return this mesh under another name; None for an inlined mesh."""
        return Mesh(self.axes, self.device_ids or None, name)

    def verify(self) -> None:
        """Check every invariant.

        Raises:
          VerifyError: saying which invariant is broken.

        """
        # Remembered, because every use of a mesh verifies it and it may list many devices.
        if not self._is_verified:
            verifier.verify_mesh(self)
            object.__setattr__(self, "_is_verified", True)


def _mesh_axes(axes: Mapping[str, SupportsIndex] | Iterable[MeshAxis]) -> tuple[MeshAxis, ...]:
    """Return the axes, of the right types."""
    if type(axes) is dict or isinstance(axes, Mapping):
        return tuple(_mesh_axis(name, size) for name, size in axes.items())
    expected = "the size of each axis by name, or MeshAxis values"
    check_type(axes, (tuple, Iterable), "axes", expected)
    given = tuple(axes)
    for axis in given:
        check_type(axis, MeshAxis, "axes", expected)
    return tuple(_mesh_axis(axis.name, axis.size) for axis in given)


def _mesh_axis(name: str, size: SupportsIndex) -> MeshAxis:
    check_type(name, str, "axis name", "a str")
    try:
        return MeshAxis(name, index(size))
    except TypeError:
        raise ArgumentTypeError(
            f"size of axis {quote(name)}: expected an integer, got {type(size).__name__}"
        ) from None


def _explicit_device_ids(
    axes: tuple[MeshAxis, ...], device_ids: Iterable[int] | NDArray[np.integer] | None
) -> tuple[int, ...]:
    """Return the device ids row-major, none where they are 0, 1, 2, ... of a mesh with axes."""
    if device_ids is None:
        return ()
    check_type(device_ids, Iterable, "device_ids", "integers")
    flat = device_ids.ravel().tolist() if hasattr(device_ids, "ravel") else device_ids
    try:
        ids = tuple(map(index, flat))
    except TypeError as error:
        raise ArgumentTypeError(f"device_ids: expected integers, {error}") from None
    is_iota = len(ids) == math.prod(axis.size for axis in axes) and ids == tuple(range(len(ids)))
    return () if axes and is_iota else ids
