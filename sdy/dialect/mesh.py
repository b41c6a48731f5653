"""A mesh: a multi-dimensional view of devices with named axes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import index
from typing import TYPE_CHECKING

from sdy.dialect import verifier
from sdy.dialect.names import quote, symbol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Mesh", "MeshAxis", "symbol"]


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
    _hash: int = field(repr=False, compare=False)

    def __init__(
        self,
        axes: Mapping[str, int] | Iterable[MeshAxis] = (),
        device_ids: Iterable[int] | NDArray[np.integer] | None = None,
        name: str | None = None,
    ) -> None:
        """Make a mesh; nothing is verified, see `verify`.

        Args:
          axes: the axes, or the size of each by name.
          device_ids: the device at each place: row-major, or as an array of the mesh's shape.
            Ids that only say 0, 1, 2, ... are dropped.
          name: the symbol under which shardings refer to the mesh.

        """
        if isinstance(axes, Mapping):
            axes = (MeshAxis(axis, index(size)) for axis, size in axes.items())
        axes = tuple(axes)
        ids = _explicit_device_ids(axes, device_ids)
        object.__setattr__(self, "axes", axes)
        object.__setattr__(self, "device_ids", ids)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "_hash", hash((axes, ids, name)))

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
        """Return the device ids as an array of the mesh's shape."""
        # Imported here because numpy takes longer to import than the rest of the dialect.
        import numpy as np

        ids = self.device_ids or np.arange(self.size)
        return np.asarray(ids, dtype=np.int64).reshape(self.shape)

    def equals(self, other: Mesh, *, ignore_device_ids: bool = False) -> bool:
        """Return whether both arrange the same devices alike, whatever their names."""
        if ignore_device_ids:
            return self.axes == other.axes and self.is_maximal == other.is_maximal
        return self.axes == other.axes and self.device_ids == other.device_ids

    def renamed(self, name: str | None) -> Mesh:
        """Return this mesh under another name; None for an inlined mesh."""
        return Mesh(self.axes, self.device_ids, name)

    def verify(self) -> None:
        """Check every invariant.

        Raises:
          VerifyError: saying which invariant is broken.

        """
        verifier.verify_mesh(self)


def _explicit_device_ids(
    axes: tuple[MeshAxis, ...], device_ids: Iterable[int] | NDArray[np.integer] | None
) -> tuple[int, ...]:
    """Return the device ids row-major, none where they are 0, 1, 2, ... of a mesh with axes."""
    if device_ids is None:
        return ()
    flat = device_ids.ravel().tolist() if hasattr(device_ids, "ravel") else device_ids
    ids = tuple(map(index, flat))
    is_iota = len(ids) == math.prod(axis.size for axis in axes) and ids == tuple(range(len(ids)))
    return () if axes and is_iota else ids
