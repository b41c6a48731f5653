"""What a collective costs: bytes that a device sends, and seconds on the links of a machine."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from sdy.dialect.axes import AxisRef
from sdy.dialect.errors import Error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sdy.dialect.mesh import Mesh
    from sdy.explain.partitioner.exchanges import Exchange
    from sdy.explain.partitioner.tiling import Groups
    from sdy.explain.topologies import Link, Topology

__all__ = ["axes_of_groups", "places_on", "seconds_of"]

_REMEMBERED = 2048


@lru_cache(maxsize=_REMEMBERED)
def places_on(topology: Topology, mesh: Mesh) -> NDArray[np.int64]:
    """Return where each device of a mesh is on a machine, shape `[devices, links]`.

    Each mesh axis goes along whole dimensions of the machine where there is a way, as
    `jax.make_mesh` lays them; else devices are placed in the order of the mesh, the last
    dimension fastest. The row of a device is its place in the mesh, row-major.

    Raises:
      Error: if the machine has another number of devices.

    """
    sizes = [link.size for link in topology.links]
    if math.prod(sizes) != mesh.size:
        raise Error(
            f"topology '{topology.name}' has {math.prod(sizes)} devices, the mesh has {mesh.size}"
        )
    order = _order_that_fits(sizes, mesh.shape) or range(len(sizes))
    places = np.indices([sizes[i] for i in order]).reshape(len(sizes), -1)
    found: NDArray[np.int64] = places[[list(order).index(i) for i in range(len(sizes))]].T
    return found


def _order_that_fits(sizes: Sequence[int], shape: Sequence[int]) -> tuple[int, ...] | None:
    """Return an order of dimensions in which each axis is made of whole neighbours; None if none.

    The order as it is comes first.
    """
    ends = set(np.cumprod([1, *shape]).tolist())
    for order in permutations(range(len(sizes))):
        if ends <= set(np.cumprod([1, *(sizes[i] for i in order)]).tolist()):
            return order
    return None


@lru_cache(maxsize=_REMEMBERED)
def axes_of_groups(groups: Groups, mesh: Mesh) -> tuple[AxisRef, ...]:
    """Return the axes along which the devices of a group differ, major first.

    A part of an axis is a sub-axis where it is one.
    """
    places = _rows(groups, mesh)
    coordinates = np.stack(np.unravel_index(places, mesh.shape), axis=-1)
    axes: list[AxisRef] = []
    for index, axis in enumerate(mesh.axes):
        held = max((np.unique(row) for row in coordinates[..., index]), key=len)
        if len(held) == axis.size and axis.size > 1:
            axes.append(AxisRef(axis.name))
        elif len(held) > 1:
            step = int(np.diff(held).min())
            whole = len(held) * step
            fits = axis.size % whole == 0 and np.all(np.diff(held) == step)
            part = AxisRef.sub(axis.name, axis.size // whole, len(held)) if fits else None
            axes.append(part or AxisRef(axis.name))
    return tuple(axes)


def _rows(groups: Groups, mesh: Mesh) -> NDArray[np.int64]:
    """Return the groups with places in the mesh for devices."""
    position = np.argsort(mesh.flat_devices())
    rows: NDArray[np.int64] = position[np.asarray(groups, dtype=np.int64)]
    return rows


def seconds_of(exchange: Exchange, topology: Topology, mesh: Mesh) -> float:
    """Return how long a collective takes on a machine that does nothing else.

    Bandwidth decides for large tensors, latency for small ones: both are added up. All-gathers,
    all-reduces and reduce-scatters go around rings, in both directions where they close; an
    all-to-all on a ring or line is bound by the links in its middle.

    Raises:
      Error: if the machine has another number of devices than the mesh.

    """
    is_permute = exchange.kind == "collective-permute"
    extents = (_distances if is_permute else _extents)(exchange.groups, topology, mesh)
    used = [
        (link, extent) for link, extent in zip(topology.links, extents, strict=True) if extent > 1
    ]
    if not used:
        return 0.0
    if is_permute:
        return max(_permute(exchange.bytes, link, extent) for link, extent in used)
    if exchange.kind == "all-to-all":
        return sum(_all_to_all(exchange.bytes, link, extent) for link, extent in used)
    whole = exchange.bytes
    if exchange.kind == "reduce-scatter":
        whole *= exchange.group_size
    seconds = _all_gather(whole, used, together=topology.is_torus)
    return 2 * seconds if exchange.kind == "all-reduce" else seconds


@lru_cache(maxsize=_REMEMBERED)
def _extents(groups: Groups, topology: Topology, mesh: Mesh) -> tuple[int, ...]:
    """Return for each dimension along how many places the devices of a group are."""
    places = places_on(topology, mesh)[_rows(groups, mesh)]
    return tuple(
        max(len(np.unique(row)) for row in places[..., index])
        for index in range(len(topology.links))
    )


@lru_cache(maxsize=_REMEMBERED)
def _distances(pairs: Groups, topology: Topology, mesh: Mesh) -> tuple[int, ...]:
    """Return for each dimension how far a pair of devices is apart at most, plus one."""
    places = places_on(topology, mesh)[_rows(pairs, mesh)]
    apart = np.abs(places[:, 0] - places[:, 1])
    found: list[int] = []
    for index, link in enumerate(topology.links):
        hops = apart[:, index]
        if link.shape == "ring":
            hops = np.minimum(hops, link.size - hops)
        elif link.shape == "switch":
            hops = np.minimum(hops, 1)
        found.append(int(hops.max()) + 1)
    return tuple(found)


def _directions(link: Link, extent: int) -> int:
    """Return how many links of a device work at the same time."""
    return 2 if link.shape == "ring" and extent == link.size and extent > 2 else 1


def _hops(link: Link, extent: int) -> int:
    """Return how many links a byte goes over, one after the other."""
    if link.shape == "switch":
        return math.ceil(math.log2(extent))
    return extent // 2 if _directions(link, extent) == 2 else extent - 1


def _all_gather(whole: int, used: Sequence[tuple[Link, int]], *, together: bool) -> float:
    """Return the seconds until each device has `whole` bytes."""
    latency = sum(link.latency * _hops(link, extent) for link, extent in used)
    members = math.prod(extent for _, extent in used)
    if together:
        bandwidth = sum(link.bandwidth * _directions(link, extent) for link, extent in used)
        return whole * (members - 1) / members / bandwidth + latency
    seconds, share = latency, whole / members
    for link, extent in used:
        seconds += share * (extent - 1) / (link.bandwidth * _directions(link, extent))
        share *= extent
    return seconds


def _all_to_all(local: int, link: Link, extent: int) -> float:
    latency = link.latency * _hops(link, extent)
    if link.shape == "switch":
        return local * (extent - 1) / extent / link.bandwidth + latency
    share = 8 if _directions(link, extent) == 2 else 4
    return local * extent / share / link.bandwidth + latency


def _permute(local: int, link: Link, extent: int) -> float:
    hops = extent - 1
    return hops * (local / link.bandwidth + link.latency)
