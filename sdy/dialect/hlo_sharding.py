"""How XLA writes a sharding: tiles of an array of devices, without meshes or names."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING

from sdy.dialect import hlo_text
from sdy.dialect.axes import AxisRef
from sdy.dialect.mesh_parts import MeshParts
from sdy.dialect.named_form import NamedForm

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from sdy.dialect.hlo_metadata import OpMetadata, ShardGroup
    from sdy.dialect.mesh import Mesh
    from sdy.dialect.partition_spec import Entry
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
    NAMED = "named"
    TUPLE = "tuple"


class SubgroupKind(Enum):
    """What the devices that share a tile have of it, in the order in which XLA sorts them."""

    MANUAL = "manual"
    UNREDUCED = "unreduced"
    REPLICATED = "replicated"


@dataclass(frozen=True, slots=True)
class HloSharding:
    """A sharding as XLA's SPMD partitioner (GSPMD) reads it.

    Use the constructors below: they bring a sharding to the one form that XLA has for it. As in
    XLA, metadata do not matter when two are compared.

    Attributes:
      kind: the form.
      tiles: the array of devices if tiled: a dimension for each of the tensor's, then one for
        each subgroup.
      subgroups: what the trailing dimensions of `tiles` mean.
      device: the one device if maximal.
      named: the mesh and the axes if they are named.
      elements: the shardings of a tuple's leaves.
      shard_group: the group of tensors that are to be sharded alike, if any.
      metadata: where the sharding comes from.

    """

    kind: HloShardingKind
    tiles: TileAssignment | None = None
    subgroups: tuple[SubgroupKind, ...] = ()
    device: int | None = None
    named: NamedForm | None = None
    elements: tuple[HloSharding, ...] = ()
    shard_group: ShardGroup | None = None
    metadata: tuple[OpMetadata, ...] = field(default=(), compare=False)

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
    def of_names(sharding: TensorSharding, manual: Iterable[AxisRef] = ()) -> HloSharding:
        """Return the sharding that keeps the names of a mesh and its axes.

        Args:
          sharding: bound to its mesh.
          manual: the axes on which the tensor is local already, in the mesh's order.

        Raises:
          VerifyError: if it is not valid on its mesh.

        """
        mesh = sharding.bound_mesh.renamed(None)
        named = NamedForm(sharding.bind(mesh), tuple(manual))
        named.verify()
        return HloSharding(HloShardingKind.NAMED, named=named)

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
    def from_sharding(
        sharding: TensorSharding, manual_axes: Iterable[str | AxisRef] = ()
    ) -> HloSharding:
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
        manual = [AxisRef(axis) if isinstance(axis, str) else axis for axis in manual_axes]
        if mesh.size == 1:
            return HloSharding.manual() if manual else HloSharding.replicated()
        parts = MeshParts(mesh, (*sharding.axes(), *manual))
        dims = [parts.take(dimension.axes) for dimension in sharding.dimensions]
        sizes = {
            SubgroupKind.MANUAL: parts.take(manual),
            SubgroupKind.UNREDUCED: parts.take(sharding.unreduced),
            SubgroupKind.REPLICATED: parts.take_rest(),
        }
        kinds = [kind for kind, size in sizes.items() if size > 1]
        dims += [sizes[kind] for kind in kinds]
        return HloSharding.tiled(parts.assignment(dims), kinds)

    @staticmethod
    def from_partition_spec(
        mesh: Mesh,
        spec: Sequence[Entry],
        *,
        rank: int | None = None,
        num_devices: int | None = None,
    ) -> HloSharding:
        """Return the sharding that a partition spec means, as torch_xla makes it.

        Devices are listed, never counted; see `canonical`.

        Args:
          mesh: all devices, in any order.
          spec: an entry for each dimension of the tensor: None where it is not split, else the
            name or the index of a mesh axis, or a tuple of them, major first.
          rank: the rank of the tensor, to check the number of entries.
          num_devices: the number of devices there are; by default that of the mesh.

        Raises:
          VerifyError: if an entry is missing or is no axis of the mesh, an axis is used twice,
            or the mesh is not of all devices.

        """
        from sdy.dialect.partition_spec import from_partition_spec

        return from_partition_spec(mesh, spec, rank, num_devices)

    @staticmethod
    def parse(text: str) -> HloSharding:
        """Return the sharding of XLA's text, such as `{devices=[2,1,4]<=[4,2]T(1,0)}`.

        Raises:
          ParseError: with the place of the first wrong character.
          VerifyError: if it names axes that its mesh has not or that are used already.

        """
        from sdy.dialect.hlo_sharding_parser import parse_hlo_sharding

        return parse_hlo_sharding(text)

    def __str__(self) -> str:
        if self.kind is HloShardingKind.TUPLE:
            return hlo_text.tuple_text(self.elements)
        if self.named is not None:
            return hlo_text.named_text(self.named, self.metadata)
        if self.kind is HloShardingKind.MAXIMAL:
            return hlo_text.with_suffixes(f"maximal device={self.device}", self)
        form = self.kind.value if self.tiles is None else hlo_text.tiled_text(self)
        return hlo_text.with_suffixes(form, self)

    @property
    def is_tiled(self) -> bool:
        """Whether it is tiled: the tensor is split, or its devices are in subgroups."""
        return self.kind is HloShardingKind.TILED

    @property
    def num_devices(self) -> int | None:
        """The number of devices; None where the sharding fits any number of them."""
        if self.kind is HloShardingKind.MAXIMAL:
            return 1
        if self.named is not None:
            return self.named.mesh.size
        return self.tiles.size if self.tiles else None

    @property
    def data_dims(self) -> tuple[int, ...]:
        """The number of tiles in each dimension of the tensor; empty if it is not tiled."""
        if self.tiles is None:
            return ()
        return self.tiles.dims[: len(self.tiles.dims) - len(self.subgroups)]

    def leaves(self) -> tuple[HloSharding, ...]:
        """Return the shardings of a tuple's leaves, or this alone."""
        return self.elements if self.kind is HloShardingKind.TUPLE else (self,)

    def with_suffixes(
        self, shard_group: ShardGroup | None, metadata: Iterable[OpMetadata]
    ) -> HloSharding:
        """Return this with another shard group and other metadata.

        Raises:
          ValueError: for a tuple's sharding, and if a sharding with names is to be in a group:
            XLA has no text for these.

        """
        metadata = tuple(metadata)
        if self.kind is HloShardingKind.TUPLE and (shard_group or metadata):
            raise ValueError("a tuple's sharding has neither shard group nor metadata")
        if self.named is not None and shard_group:
            raise ValueError("a sharding that names its mesh is in no shard group")
        return replace(self, shard_group=shard_group, metadata=metadata)

    def without_names(self) -> HloSharding:
        """Return this in tiles, if it names a mesh; open dimensions have no image there."""
        if self.named is None:
            return self
        tiled = HloSharding.from_sharding(self.named.sharding, self.named.manual)
        return replace(tiled, metadata=self.metadata)

    def canonical(self) -> HloSharding:
        """Return the one way to write this sharding.

        Without names, and with devices counted wherever there is a way to count them. Tiles on
        one device are maximal.
        """
        if self.kind is HloShardingKind.TUPLE:
            return HloSharding.tuple_of(element.canonical() for element in self.elements)
        plain = self.without_names()
        if plain.tiles is None:
            return plain
        tiles = plain.tiles.canonical()
        if tiles.size > 1:
            return replace(plain, tiles=tiles)
        maximal = HloSharding.maximal(int(tiles.devices().item()))
        return replace(maximal, shard_group=self.shard_group, metadata=self.metadata)

    def is_equivalent(self, other: HloSharding) -> bool:
        """Return whether both put the same data on every device, for tensors of every shape.

        Names, metadata, shard groups, open dimensions and the order of replicas do not matter;
        the subgroups that are manual and the parts of a sum do. A sharding that fits any number
        of devices is the same only as another such.
        """
        from sdy.dialect import hlo_placement

        return hlo_placement.is_equivalent(self, other)

    def local_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of the largest shard of a tensor of `shape`.

        Raises:
          VerifyError: if the sharding is a tuple's or for tensors of another rank.

        """
        from sdy.dialect import hlo_placement

        return hlo_placement.local_shape(self, shape)

    def shard_offset(self, shape: Sequence[int], device: int) -> tuple[int, ...]:
        """Return where the shard of `device` starts in a tensor of `shape`.

        Raises:
          VerifyError: if there is nothing on that device.

        """
        from sdy.dialect import hlo_placement

        return hlo_placement.shard_offset(self, shape, device)

    def tile_devices(self) -> NDArray[np.int64]:
        """Return the devices of every tile, shape `[*data_dims, devices of a tile]`.

        Raises:
          Error: if the sharding fits any number of devices.

        """
        from sdy.dialect import hlo_placement

        return hlo_placement.tile_devices(self)

    def tile_offsets(self, shape: Sequence[int]) -> NDArray[np.int64]:
        """Return where every tile of a tensor of `shape` starts, shape `[*data_dims, rank]`."""
        from sdy.dialect import hlo_placement

        return hlo_placement.tile_offsets(self, shape)

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
        from sdy.dialect import hlo_placement

        return hlo_placement.tile_indices(self, rank, num_devices)

    def device_slices(
        self, shape: Sequence[int], num_devices: int | None = None
    ) -> dict[int, tuple[slice, ...]]:
        """Return for every device the part of a tensor of `shape` that it holds.

        Args:
          shape: the shape of the whole tensor.
          num_devices: how many devices there are, for a sharding that does not say.

        """
        from sdy.dialect import hlo_placement

        return hlo_placement.device_slices(self, shape, num_devices)
