"""The time of collectives on small machines, worked out by hand."""

from __future__ import annotations

import pytest

import sdy
from sdy.explain.collective_costs import axes_of_groups, places_on, seconds_of
from sdy.explain.partitioner.exchanges import Exchange, Kind
from sdy.explain.partitioner.tiling import tiling_of
from sdy.explain.topologies import Link, Topology

MESH = sdy.Mesh({"x": 4, "y": 8}, name="mesh")
GB = 1e9
RING = Link(8, "ring", GB, 0.0)
LINE = Link(4, "line", GB, 0.0)
TORUS = Topology("torus", (LINE, RING))
NODES = Topology(
    "nodes", (Link(4, "switch", GB, 0.0), Link(8, "switch", 10 * GB, 0.0)), is_torus=False
)


def along(kind: Kind, axes: str, size: int = 8_000_000) -> Exchange:
    tiling = tiling_of(sdy.parse_sharding(f"<@mesh, [{{{axes}}}]>", MESH))
    return Exchange(kind, size, tiling.groups([0]))


def test_axes_of_groups_are_those_in_which_devices_differ() -> None:
    assert list(map(str, axes_of_groups(along("all-gather", '"y"').groups, MESH))) == ['"y"']
    assert list(map(str, axes_of_groups(along("all-gather", '"x", "y"').groups, MESH))) == [
        '"x"',
        '"y"',
    ]
    part = axes_of_groups(along("all-gather", '"y":(2)2').groups, MESH)
    assert list(map(str, part)) == ['"y":(2)2']


def test_mesh_axes_go_along_whole_dimensions_of_a_machine() -> None:
    turned = Topology("turned", (RING, LINE))
    # Neighbours along the last axis of the mesh, of 8, are neighbours on the ring of 8.
    assert places_on(turned, MESH)[:3].tolist() == [[0, 0], [1, 0], [2, 0]]
    assert places_on(TORUS, MESH)[:3].tolist() == [[0, 0], [0, 1], [0, 2]]


SECONDS: list[tuple[Kind, str, Topology, float]] = [
    # Seven eighths of 8 MB, half in each direction of the ring.
    ("all-gather", '"y"', TORUS, 7e6 / (2 * GB)),
    ("all-reduce", '"y"', TORUS, 2 * 7e6 / (2 * GB)),
    # Three quarters of 8 MB over one link.
    ("all-gather", '"x"', TORUS, 6e6 / GB),
    # Both dimensions at the same time.
    ("all-gather", '"x", "y"', TORUS, 8e6 * 31 / 32 / (3 * GB)),
    # Over the middle of a line half of all data of one half goes: 2 * 8 MB / 2 a link.
    ("all-to-all", '"x"', TORUS, 8e6 * 4 / 4 / GB),
    ("all-to-all", '"y"', TORUS, 8e6 * 8 / 8 / GB),
    # A quarter of a megabyte from each of three nodes, then all of it from seven neighbours.
    ("all-gather", '"x", "y"', NODES, 3 * 0.25e6 / GB + 7 * 1e6 / (10 * GB)),
    ("all-to-all", '"y"', NODES, 7e6 / (10 * GB)),
    # The result is an eighth of what is reduced.
    ("reduce-scatter", '"y"', TORUS, 7 * 8e6 / (2 * GB)),
]


@pytest.mark.parametrize(("kind", "axes", "machine", "expected"), SECONDS)
def test_seconds(kind: Kind, axes: str, machine: Topology, expected: float) -> None:
    assert seconds_of(along(kind, axes), machine, MESH) == pytest.approx(expected)


def test_a_permutation_takes_the_shortest_way() -> None:
    def far(distance: int) -> Exchange:
        pairs = tuple((i, (i + distance) % 8) for i in range(8))
        return Exchange("collective-permute", 1_000_000, pairs)

    assert seconds_of(far(1), TORUS, MESH) == pytest.approx(1e-3)
    assert seconds_of(far(6), TORUS, MESH) == pytest.approx(2e-3)


def test_latency_counts_hops() -> None:
    slow = Topology("slow", (Link(4, "line", GB, 1e-3), Link(8, "ring", GB, 1e-3)))
    assert seconds_of(along("all-gather", '"x"', 0), slow, MESH) == pytest.approx(3e-3)
    assert seconds_of(along("all-gather", '"y"', 0), slow, MESH) == pytest.approx(4e-3)


def test_a_machine_of_another_size_is_refused() -> None:
    with pytest.raises(sdy.Error, match="has 8 devices, the mesh has 32"):
        seconds_of(along("all-gather", '"x"'), Topology("ring", (RING,)), MESH)
