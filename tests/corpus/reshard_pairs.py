"""Random pairs of shardings of one tensor on one mesh, sub-axes and uneven sizes included."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from sdy.dialect.axes import AxisRef, merge_adjacent_axes
from sdy.dialect.mesh import Mesh
from sdy.dialect.sharding import DimensionSharding, TensorSharding

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["EVEN_MESHES", "ODD_MESHES", "ReshardPair", "random_pair"]

# All sizes are powers of two: every size divides every greater one.
EVEN_MESHES = (
    Mesh({"x": 2, "y": 2, "z": 2, "w": 2}, name="four_axes"),
    Mesh({"x": 4, "y": 8}, name="two_axes"),
    Mesh({"x": 16, "y": 2, "z": 4}, name="long_axis"),
)
ODD_MESHES = (
    Mesh({"x": 6, "y": 2, "z": 3}, name="six"),
    Mesh({"x": 12, "y": 6}, name="twelve"),
    Mesh({"x": 5, "y": 3, "z": 2}, name="primes"),
)
SIZES = (7, 8, 16, 24, 48, 96)

ReshardPair = tuple[TensorSharding, TensorSharding, tuple[int, ...]]


def random_pair(seed: int, meshes: Sequence[Mesh]) -> ReshardPair:
    """Return the sharding before, the one after, and the shape, of that seed."""
    random = Random(seed)
    mesh = random.choice(meshes)
    shape = tuple(random.choice(SIZES) for _ in range(random.randint(1, 4)))
    return _sharding(mesh, len(shape), random), _sharding(mesh, len(shape), random), shape


def _sharding(mesh: Mesh, rank: int, random: Random) -> TensorSharding:
    parts = _parts(mesh, random)
    dimensions: list[list[AxisRef]] = [[] for _ in range(rank)]
    for part in parts[: random.randint(0, len(parts))]:
        random.choice(dimensions).append(part)
    merged = (merge_adjacent_axes(axes, mesh) for axes in dimensions)
    return TensorSharding(mesh, tuple(DimensionSharding(axes) for axes in merged))


def _parts(mesh: Mesh, random: Random) -> list[AxisRef]:
    """Return the axes of the mesh, some of them split, in random order."""
    parts = []
    for axis in mesh.axes:
        pre_size = 1
        while pre_size < axis.size:
            rest = axis.size // pre_size
            divisors = [d for d in range(2, rest + 1) if rest % d == 0]
            size = random.choice(divisors) if random.random() < 0.5 else rest
            is_whole = size == axis.size
            parts.append(AxisRef(axis.name) if is_whole else AxisRef.sub(axis.name, pre_size, size))
            pre_size *= size
    random.shuffle(parts)
    return parts
