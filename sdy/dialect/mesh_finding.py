"""Meshes for shardings that name none: from XLA's tiles back to axes.

The devices of a tiled sharding are an iota that is reshaped and transposed; the sizes of that
reshape, multiplied up from the major end, are the *cuts* of the sharding. A mesh has a whole
axis for all it needs if its own cuts are those of all its shardings together, which is possible
where each cut divides the next. Shardings for which it is not get meshes of their own.

Where the devices are no iota, they may be one once the devices are put in another order: the
order of the mesh, its `device_ids`. It is found by sorting the devices by what the shardings
say of each, those that say most first: a sharding says nothing of the order of replicas.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sdy.dialect.axes import AxisRef, merge_adjacent_axes
from sdy.dialect.errors import VerifyError
from sdy.dialect.hlo_sharding import HloSharding, HloShardingKind, SubgroupKind
from sdy.dialect.mesh import Mesh
from sdy.dialect.mesh_parts import axes_of_part
from sdy.dialect.named_form import NamedForm
from sdy.dialect.sharding import DimensionSharding, TensorSharding
from sdy.dialect.tile_assignment import TileAssignment

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["FoundMeshes", "find_meshes"]

# For each dimension of an array of devices, the parts `[start, end)` of the order of devices
# that make it up, major first. A part is a sub-axis of the one axis that holds all devices.
Parts = list[list[tuple[int, int]]]


def find_meshes(
    shardings: Iterable[HloSharding],
    known: Sequence[Mesh] = (),
    num_devices: int | None = None,
    taken: Iterable[str] = (),
) -> FoundMeshes:
    """Return meshes on which all of `shardings` can be said, as few as can be found.

    Args:
      shardings: of any form; the leaves of a tuple count one by one.
      known: meshes that are there already, tried first; their names are kept.
      num_devices: how many devices there are, for when no sharding says so.
      taken: names that new meshes may not have.

    Raises:
      VerifyError: if the devices of a sharding are not 0, 1, 2, ... in some order.

    """
    names = _Names([*taken, *(mesh.name for mesh in known)])
    leaves = list(dict.fromkeys(leaf for sharding in shardings for leaf in sharding.leaves()))
    meshes = list(known)
    for leaf in leaves:
        if leaf.named is not None and not _same_mesh(leaf.named.mesh, meshes):
            meshes.append(names.name(leaf.named.mesh))
    plain = list(dict.fromkeys(leaf.canonical() for leaf in leaves))
    left = [p for p in plain if p.is_tiled and all(_axes_on(p, mesh) is None for mesh in meshes)]
    meshes += [names.name(group.mesh()) for group in _groups(left)]
    if num_devices is not None and all(mesh.is_maximal for mesh in meshes):
        meshes.append(names.name(_Group((), (1, num_devices), ()).mesh()))
    for device in sorted({p.device for p in plain if p.device is not None}):
        if not _same_mesh(Mesh.maximal(device), meshes):
            meshes.append(names.name(Mesh.maximal(device)))
    if all(mesh.is_maximal for mesh in meshes) and any(p.device is None for p in plain):
        meshes.append(names.name(Mesh()))
    return FoundMeshes(tuple(meshes))


@dataclass(frozen=True, slots=True)
class FoundMeshes:
    """Meshes, and how shardings without names are said on them.

    Attributes:
      meshes: each with a name of its own.

    """

    meshes: tuple[Mesh, ...]

    @property
    def main(self) -> Mesh:
        """The mesh for shardings that fit any, an empty one where there is no other."""
        for mesh in self.meshes:
            if not mesh.is_maximal:
                return mesh
        raise VerifyError("all meshes are maximal")

    def named(
        self, sharding: HloSharding, rank: int, unspecified: Collection[int] = ()
    ) -> NamedForm:
        """Return how `sharding` is said on one of the meshes.

        Args:
          sharding: not that of a tuple.
          rank: the rank of the tensor.
          unspecified: the dimensions that are to be open; all are if the sharding is unknown.

        Raises:
          VerifyError: if it is for tensors of another rank, or no mesh has what it takes.

        """
        if sharding.named is not None:
            return self._on_own_mesh(sharding.named, rank, unspecified)
        plain = sharding.canonical()
        if plain.kind is HloShardingKind.MAXIMAL:
            return NamedForm(TensorSharding(self._maximal(plain)))
        if plain.is_tiled:
            return self._of_tiles(plain, rank, unspecified)
        is_unknown = plain.kind is HloShardingKind.UNKNOWN
        return self._of_whole(plain, rank, range(rank) if is_unknown else unspecified)

    def _on_own_mesh(self, named: NamedForm, rank: int, unspecified: Collection[int]) -> NamedForm:
        mesh = _same_mesh(named.mesh, self.meshes)
        if mesh is None:
            raise VerifyError(f"no mesh is {named.mesh}")
        sharding = named.sharding.bind(mesh)
        dimensions = sharding.dimensions or (DimensionSharding(),) * rank
        if mesh.is_maximal:
            return NamedForm(sharding)
        _check_rank(sharding, len(dimensions), rank)
        opened = [d.opened() if i in unspecified else d for i, d in enumerate(dimensions)]
        return NamedForm(
            TensorSharding(mesh, tuple(opened), sharding.replicated, sharding.unreduced),
            named.manual,
        )

    def _maximal(self, sharding: HloSharding) -> Mesh:
        for mesh in self.meshes:
            if mesh.is_maximal and mesh.maximal_device == sharding.device:
                return mesh
        raise VerifyError(f"no mesh has what {sharding} takes")

    def _of_tiles(
        self, sharding: HloSharding, rank: int, unspecified: Collection[int]
    ) -> NamedForm:
        _check_rank(sharding, len(sharding.data_dims), rank)
        for mesh in self.meshes:
            axes = _axes_on(sharding, mesh)
            if axes is not None:
                break
        else:
            raise VerifyError(f"no mesh has what {sharding} takes")
        of_subgroup = dict(zip(sharding.subgroups, axes[rank:], strict=True))
        sets = {
            kind: merge_adjacent_axes(
                sorted(of_subgroup.get(kind, ()), key=lambda axis: axis.mesh_order(mesh)), mesh
            )
            for kind in (SubgroupKind.UNREDUCED, SubgroupKind.MANUAL)
        }
        dimensions = [
            DimensionSharding(merge_adjacent_axes(of_dimension, mesh), i not in unspecified)
            for i, of_dimension in enumerate(axes[:rank])
        ]
        sharded = TensorSharding(mesh, tuple(dimensions), unreduced=sets[SubgroupKind.UNREDUCED])
        return NamedForm(sharded, sets[SubgroupKind.MANUAL])

    def _of_whole(
        self, sharding: HloSharding, rank: int, unspecified: Collection[int]
    ) -> NamedForm:
        mesh = self.main
        everywhere = tuple(AxisRef(axis.name) for axis in mesh.axes)
        whole = tuple(DimensionSharding(is_closed=i not in unspecified) for i in range(rank))
        is_manual = sharding.kind is HloShardingKind.MANUAL
        is_unreduced = sharding.kind is HloShardingKind.UNREDUCED
        if (is_manual or is_unreduced) and not everywhere:
            raise VerifyError(f"{sharding} takes a mesh with axes: say how many devices there are")
        return NamedForm(
            TensorSharding(mesh, whole, unreduced=everywhere if is_unreduced else ()),
            everywhere if is_manual else (),
        )


@dataclass(frozen=True, slots=True)
class _Group:
    """Shardings that one mesh serves.

    Attributes:
      order: the device at each place of the mesh; empty where they are counted.
      cuts: ascending, each divides the next, from 1 to the number of devices.
      members: the shardings.

    """

    order: tuple[int, ...]
    cuts: tuple[int, ...]
    members: tuple[HloSharding, ...]

    def mesh(self) -> Mesh:
        """Return the mesh, with names for its axes as XLA's import gives them."""
        sizes = [end // start for start, end in itertools.pairwise(self.cuts)]
        axes = {f"_axis_{i}": size for i, size in enumerate(sizes)}
        return Mesh(axes, self.order or None)


def _groups(shardings: Sequence[HloSharding]) -> list[_Group]:
    """Return one group for all if there can be, else a few, those of counted devices first."""
    whole = _group(shardings) if shardings else None
    if whole is not None:
        return [whole]
    counted = [s for s in shardings if s.tiles is not None and s.tiles.factors() is not None]
    listed = [s for s in shardings if s not in counted]
    return [*_first_fit(counted), *_first_fit(sorted(listed, key=_num_replicas))]


def _first_fit(shardings: Iterable[HloSharding]) -> Iterator[_Group]:
    groups: list[_Group] = []
    for sharding in shardings:
        for i, group in enumerate(groups):
            joined = _group([*group.members, sharding])
            if joined is not None:
                groups[i] = joined
                break
        else:
            alone = _group([sharding])
            if alone is None:
                raise VerifyError(
                    f"{sharding} is not on devices 0, 1, 2, ...: no mesh has what it takes"
                )
            groups.append(alone)
    return iter(groups)


def _group(members: Sequence[HloSharding]) -> _Group | None:
    """Return the group of `members`, None if there is no mesh that serves them all."""
    if len({member.num_devices for member in members}) > 1:
        return None
    cuts = _common_cuts(members, None)
    if cuts is not None:
        return _Group((), cuts, tuple(members))
    order = _device_order(sorted(members, key=_num_replicas))
    if order is None:
        return None
    cuts = _common_cuts(members, np.argsort(order))
    return None if cuts is None else _Group(tuple(order.tolist()), cuts, tuple(members))


def _common_cuts(
    members: Iterable[HloSharding], places: NDArray[np.int64] | None
) -> tuple[int, ...] | None:
    cuts = {1}
    for member in members:
        parts = _parts(member, places)
        if parts is None:
            return None
        cuts |= {member.num_devices or 1}
        cuts |= {cut for dimension in parts for part in dimension for cut in part}
    ordered = sorted(cuts)
    is_chain = all(end % start == 0 for start, end in itertools.pairwise(ordered))
    return tuple(ordered) if is_chain else None


def _device_order(members: Sequence[HloSharding]) -> NDArray[np.int64] | None:
    """Return the devices sorted by what each of `members` says of them, the first of them first.

    None where they are not 0, 1, 2, ...
    """
    keys: list[NDArray[np.int64]] = []
    for member in members:
        if member.tiles is None:
            continue
        by_device = np.argsort(member.tiles.devices().reshape(-1))
        devices = np.sort(member.tiles.devices().reshape(-1))
        if not np.array_equal(devices, np.arange(len(devices))):
            return None
        said = len(member.tiles.dims) - (SubgroupKind.REPLICATED in member.subgroups)
        places = np.indices(member.tiles.dims, dtype=np.int64)[:said]
        keys += list(places.reshape(said, -1)[:, by_device])
    return np.asarray(np.lexsort(keys[::-1]), dtype=np.int64)


def _num_replicas(sharding: HloSharding) -> int:
    if sharding.tiles is None or SubgroupKind.REPLICATED not in sharding.subgroups:
        return 1
    return sharding.tiles.dims[-1]


def _parts(sharding: HloSharding, places: NDArray[np.int64] | None) -> Parts | None:
    """Return the parts of every dimension of the tiles; None where the order is another.

    Args:
      sharding: tiled.
      places: the place of each device in the order; None where they are counted.

    """
    tiles = sharding.tiles
    if tiles is None:
        return None
    if places is not None:
        ordered = places[tiles.devices()]
        tiles = TileAssignment.listed(tiles.dims, ordered.reshape(-1).tolist())
        tiles = HloSharding.tiled(tiles, sharding.subgroups).canonical().tiles or tiles
    factors = tiles.factors()
    if factors is None:
        return None
    sizes, dimensions = factors
    starts = [math.prod(sizes[:i]) for i in range(len(sizes))]
    return [[(starts[i], starts[i] * sizes[i]) for i in members] for members in dimensions]


def _axes_on(sharding: HloSharding, mesh: Mesh) -> list[list[AxisRef]] | None:
    """Return the axes of every dimension of the tiles on `mesh`; None where it has not got them."""
    if mesh.is_maximal or mesh.size != sharding.num_devices:
        return None
    places = np.argsort(mesh.devices().reshape(-1)) if mesh.device_ids else None
    parts = _parts(sharding, places)
    if parts is None:
        return None
    axes = [[axes_of_part(part, mesh) for part in dimension] for dimension in parts]
    if any(of_part is None for dimension in axes for of_part in dimension):
        return None
    return [[axis for of_part in dimension for axis in of_part or ()] for dimension in axes]


class _Names:
    """Gives names to meshes that have none: `mesh`, `mesh_1`, ..., `maximal_mesh_0`."""

    def __init__(self, taken: Iterable[str | None]) -> None:
        self._taken = set(taken)

    def name(self, mesh: Mesh) -> Mesh:
        """Return `mesh` under a name that no other has."""
        base = f"maximal_mesh_{mesh.maximal_device}" if mesh.is_maximal else "mesh"
        candidates = itertools.chain([base], (f"{base}_{i}" for i in itertools.count(1)))
        name = next(candidate for candidate in candidates if candidate not in self._taken)
        self._taken.add(name)
        return mesh.renamed(name)


def _same_mesh(mesh: Mesh, meshes: Iterable[Mesh]) -> Mesh | None:
    return next((other for other in meshes if other.equals(mesh)), None)


def _check_rank(sharding: object, found: int, rank: int) -> None:
    if found != rank:
        raise VerifyError(f"{sharding} is for tensors of rank {found}, not {rank}")
