"""How XLA writes a sharding: tiles of an array of devices, without meshes or names."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from sdy.dialect.axes import AxisRef
from sdy.dialect.errors import Error, VerifyError
from sdy.dialect.mesh_parts import MeshParts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from sdy.dialect.sharding import TensorSharding
    from sdy.dialect.tile_assignment import TileAssignment

__all__ = ["HloSharding", "HloShardingKind", "SubgroupKind"]


class HloShardingKind(Enum):
    """The forms that an `HloSharding` can have."""

    REPLICATED = "replicated"
    MAXIMAL = "maximal"
    MANUAL = "manual"
    UNREDUCED = "unreduced"
    UNKNOWN = "unknown"
    TILED = "tiled"
    TUPLE = "tuple"


class SubgroupKind(Enum):
    """What the devices that share a tile have of it, in the order in which XLA sorts them."""

    MANUAL = "manual"
    UNREDUCED = "unreduced"
    REPLICATED = "replicated"


@dataclass(frozen=True, slots=True)
class HloSharding:
    """A sharding as XLA's SPMD partitioner (GSPMD) reads it.

    Use the constructors below: they bring a sharding to the one form that XLA has for it.

    Attributes:
      kind: the form.
      tiles: the array of devices if tiled: a dimension for each of the tensor's, then one for
        each subgroup.
      subgroups: what the trailing dimensions of `tiles` mean.
      device: the one device if maximal.
      elements: the shardings of a tuple's leaves.

    """

    kind: HloShardingKind
    tiles: TileAssignment | None = None
    subgroups: tuple[SubgroupKind, ...] = ()
    device: int | None = None
    elements: tuple[HloSharding, ...] = ()

    @staticmethod
    def replicated() -> HloSharding:
        """Return the sharding that gives every device all of the tensor."""
        return HloSharding(HloShardingKind.REPLICATED)

    @staticmethod
    def manual() -> HloSharding:
        """Return the sharding of a tensor that each device has for itself."""
        return HloSharding(HloShardingKind.MANUAL)

    @staticmethod
    def unreduced() -> HloSharding:
        """Return the sharding of a tensor that is the sum of what all devices have."""
        return HloSharding(HloShardingKind.UNREDUCED)

    @staticmethod
    def unknown() -> HloSharding:
        """Return the sharding that says nothing."""
        return HloSharding(HloShardingKind.UNKNOWN)

    @staticmethod
    def maximal(device: int) -> HloSharding:
        """Return the sharding that gives one device all of the tensor."""
        return HloSharding(HloShardingKind.MAXIMAL, device=device)

    @staticmethod
    def tuple_of(elements: Iterable[HloSharding]) -> HloSharding:
        """Return the sharding of a tuple with these leaves."""
        return HloSharding(HloShardingKind.TUPLE, elements=tuple(elements))

    @staticmethod
    def tiled(tiles: TileAssignment, subgroups: Sequence[SubgroupKind] = ()) -> HloSharding:
        """Return the sharding whose devices are `tiles`, in XLA's one form for it.

        Subgroups of size one go, those of one kind are merged, and they are sorted; replicas
        of a tile ascend. Where the tensor is not split and the subgroups are of one kind, that
        kind is all there is to say.

        Raises:
          ValueError: if `tiles` has fewer dimensions than there are subgroups.

        """
        rank = len(tiles.dims) - len(subgroups)
        if rank < 0:
            raise ValueError(f"{len(subgroups)} subgroups but {len(tiles.dims)} dimensions")
        data = tiles.dims[:rank]
        members = {
            kind: [i for i, s in enumerate(subgroups, rank) if s is kind and tiles.dims[i] > 1]
            for kind in SubgroupKind
        }
        kinds = tuple(kind for kind in SubgroupKind if members[kind])
        if len(kinds) == 1 and math.prod(data) == 1:
            return HloSharding(HloShardingKind(kinds[0].value))
        dropped = [i for i in range(rank, len(tiles.dims)) if tiles.dims[i] == 1]
        order = [*range(rank), *(i for kind in kinds for i in members[kind]), *dropped]
        sizes = [math.prod(tiles.dims[i] for i in members[kind]) for kind in kinds]
        tiles = tiles.transposed(order).reshaped((*data, *sizes))
        if kinds and kinds[-1] is SubgroupKind.REPLICATED:
            tiles = tiles.sorted_along_last()
        return HloSharding(HloShardingKind.TILED, tiles, kinds)

    @staticmethod
    def from_sharding(sharding: TensorSharding, manual_axes: Iterable[str] = ()) -> HloSharding:
        """Return what `sharding` is to XLA.

        Open and closed dimensions and explicitly replicated axes have no image here. Devices
        are listed only where the mesh lists them.

        Args:
          sharding: bound to its mesh, and valid on it.
          manual_axes: the axes on which the tensor is local already, as in the body of a
            manual computation.

        Raises:
          VerifyError: if the mesh is unknown, or axes overlap or do not fit it.

        """
        mesh = sharding.bound_mesh
        if mesh.is_maximal:
            return HloSharding.maximal(mesh.device_ids[0])
        manual = tuple(manual_axes)
        if mesh.size == 1:
            return HloSharding.manual() if manual else HloSharding.replicated()
        parts = MeshParts(mesh, tuple(sharding.axes()))
        dims = [parts.take(dimension.axes) for dimension in sharding.dimensions]
        sizes = {
            SubgroupKind.MANUAL: parts.take(map(AxisRef, manual)),
            SubgroupKind.UNREDUCED: parts.take(sharding.unreduced),
            SubgroupKind.REPLICATED: parts.take_rest(),
        }
        kinds = [kind for kind, size in sizes.items() if size > 1]
        dims += [sizes[kind] for kind in kinds]
        return HloSharding.tiled(parts.assignment(dims), kinds)

    @staticmethod
    def parse(text: str) -> HloSharding:
        """Return the sharding of XLA's text, such as `{devices=[2,1,4]<=[4,2]T(1,0)}`.

        Raises:
          ParseError: with the place of the first wrong character.

        """
        from sdy.dialect.hlo_sharding_parser import parse_hlo_sharding

        return parse_hlo_sharding(text)

    def __str__(self) -> str:
        if self.kind is HloShardingKind.TUPLE:
            elements = (_tuple_element(i, element) for i, element in enumerate(self.elements))
            return "{" + ", ".join(elements) + "}"
        if self.kind is HloShardingKind.MAXIMAL:
            return f"{{maximal device={self.device}}}"
        if self.tiles is None:
            return f"{{{self.kind.value}}}"
        if self.subgroups == (SubgroupKind.REPLICATED,):
            suffix = " last_tile_dim_replicate"
        elif self.subgroups:
            names = ", ".join(subgroup.value for subgroup in self.subgroups)
            suffix = f" last_tile_dims={{{names}}}"
        else:
            suffix = ""
        return f"{{{self.tiles}{suffix}}}"

    @property
    def is_tiled(self) -> bool:
        """Whether the tensor is split, or its devices are in subgroups."""
        return self.kind is HloShardingKind.TILED

    @property
    def num_devices(self) -> int | None:
        """The number of devices; None where the sharding fits any number of them."""
        if self.kind is HloShardingKind.MAXIMAL:
            return 1
        return self.tiles.size if self.tiles else None

    @property
    def data_dims(self) -> tuple[int, ...]:
        """The number of tiles in each dimension of the tensor; empty if it is not tiled."""
        if self.tiles is None:
            return ()
        return self.tiles.dims[: len(self.tiles.dims) - len(self.subgroups)]

    def local_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of the largest shard of a tensor of `shape`.

        Raises:
          VerifyError: if the sharding is a tuple's or for tensors of another rank.

        """
        if self.kind is HloShardingKind.TUPLE:
            raise VerifyError(f"{self} is the sharding of a tuple, not of a tensor")
        if not self.is_tiled:
            return tuple(shape)
        if len(self.data_dims) != len(shape):
            raise VerifyError(
                f"{self} is for tensors of rank {len(self.data_dims)}, not {len(shape)}"
            )
        return tuple(-(-size // n) for size, n in zip(shape, self.data_dims, strict=True))

    def tile_indices(
        self, rank: int, num_devices: int | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the devices, and for each the index of its tile in every dimension.

        Args:
          rank: the rank of the tensor.
          num_devices: how many devices there are, for a sharding that does not say.

        Returns:
          The device ids, shape `[devices]`, and the tile indices, shape `[devices, rank]`.

        Raises:
          Error: if the number of devices is not known.

        """
        if self.tiles is not None:
            places = np.indices(self.tiles.dims, dtype=np.int64)[:rank]
            return self.tiles.devices().reshape(-1), places.reshape(rank, self.tiles.size).T
        if self.kind is HloShardingKind.MAXIMAL:
            devices = np.asarray([self.device], dtype=np.int64)
        elif num_devices is None:
            raise Error(f"{self} fits any number of devices: say how many there are")
        else:
            devices = np.arange(num_devices, dtype=np.int64)
        return devices, np.zeros((len(devices), rank), dtype=np.int64)

    def device_slices(
        self, shape: Sequence[int], num_devices: int | None = None
    ) -> dict[int, tuple[slice, ...]]:
        """Return for every device the part of a tensor of `shape` that it holds.

        Args:
          shape: the shape of the whole tensor.
          num_devices: how many devices there are, for a sharding that does not say.

        """
        local = np.asarray(self.local_shape(shape), dtype=np.int64)
        sizes = np.asarray(shape, dtype=np.int64)
        devices, indices = self.tile_indices(len(shape), num_devices)
        starts = np.minimum(indices * local, sizes)
        stops = np.minimum(starts + local, sizes)
        return {
            device: tuple(map(slice, start, stop))
            for device, start, stop in zip(
                devices.tolist(), starts.tolist(), stops.tolist(), strict=True
            )
        }


def _tuple_element(index: int, element: HloSharding) -> str:
    """Return the text of a tuple's element; XLA numbers every fifth."""
    return f"/*index={index}*/{element}" if index and index % 5 == 0 else str(element)
