"""Ours against XLA's HloSharding and JAX's conversion, on thousands of random shardings."""

from __future__ import annotations

import math
from random import Random
from typing import TYPE_CHECKING

import jax
import pytest
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec

from sdy.dialect.axes import AxisRef, merge_adjacent_axes
from sdy.dialect.hlo_sharding import HloSharding
from sdy.dialect.mesh import Mesh
from sdy.dialect.sharding import DimensionSharding, TensorSharding
from tests.differential import xla_hlo_shardings as xla

if TYPE_CHECKING:
    from collections.abc import Iterable

SAMPLES = 3000
KINDS = ["manual", "replicated", "unreduced"]


def prime_factors(number: int) -> list[int]:
    for prime in range(2, number + 1):
        if number % prime == 0:
            return [prime, *prime_factors(number // prime)]
    return []


def random_split(random: Random, number: int, parts: int) -> list[int]:
    """Return that many random factors of a number."""
    split = [1] * parts
    for prime in prime_factors(number):
        split[random.randrange(parts)] *= prime
    return split


def random_text(random: Random) -> tuple[str, tuple[int, ...]]:
    """Return the text of a tiled sharding in any form, and the shape of a tensor."""
    total = random.choice([4, 6, 8, 12, 16, 24, 36, 64])
    kinds = random.choices(KINDS, k=random.randint(0, 2))
    rank = random.randint(1, 3)
    dims = random_split(random, total, rank + len(kinds))
    reshape = random_split(random, total, random.randint(1, 4))
    if random.random() < 0.3:
        devices = ",".join(map(str, random.sample(range(total), total)))
    elif len(reshape) == 1:
        devices = f"<=[{total}]"
    else:
        order = random.sample(range(len(reshape)), len(reshape))
        devices = f"<=[{','.join(map(str, reshape))}]T({','.join(map(str, order))})"
    suffix = f" last_tile_dims={{{', '.join(kinds)}}}" if kinds else ""
    shape = tuple(random.randint(1, 20) for _ in range(rank))
    return f"{{devices=[{','.join(map(str, dims))}]{devices}{suffix}}}", shape


def test_parsed_text_is_what_xla_makes_of_it() -> None:
    random = Random(0)
    texts = [random_text(random) for _ in range(SAMPLES)]
    for (text, shape), expected in zip(texts, xla.from_text(texts), strict=True):
        ours = HloSharding.parse(text)
        assert str(ours) == expected.text, text
        assert list(ours.local_shape(shape)) == expected.local_shape, text
        if ours.tiles is not None:
            assert list(ours.tiles.dims) == expected.dims, text
            assert ours.tiles.devices().reshape(-1).tolist() == expected.devices, text


def random_mesh(random: Random) -> Mesh:
    while True:
        sizes = [random.choice([1, 2, 2, 3, 4, 6, 8]) for _ in range(random.randint(1, 4))]
        if math.prod(sizes) <= 96:
            break
    axes = {f"a{i}": size for i, size in enumerate(sizes)}
    total = math.prod(sizes)
    ids = random.sample(range(total), total)
    is_listed = random.random() < 0.3 and ids != sorted(ids)
    return Mesh(axes, ids if is_listed else None, "mesh")


def random_parts(random: Random, mesh: Mesh) -> list[AxisRef]:
    """Split every axis at random; the parts come in random order."""
    parts = []
    for axis in mesh.axes:
        sizes = [s for s in random_split(random, axis.size, random.randint(1, 3)) if s > 1]
        pre_size = 1
        for size in sizes:
            whole = size == axis.size
            parts.append(AxisRef(axis.name) if whole else AxisRef.sub(axis.name, pre_size, size))
            pre_size *= size
    return random.sample(parts, len(parts))


def random_sharding(random: Random) -> tuple[TensorSharding, list[str]]:
    """Return a sharding, and the axes of its mesh that are manual."""
    mesh = random_mesh(random)
    is_manual = random.random() < 0.3
    manual = [axis.name for axis in mesh.axes if is_manual and random.random() < 0.4]
    dims: list[list[AxisRef]] = [[] for _ in range(random.randint(1, 4))]
    replicated: list[AxisRef] = []
    unreduced: list[AxisRef] = []
    unused: list[AxisRef] = []
    for part in random_parts(random, mesh):
        if part.name in manual:
            continue
        places = [*dims * 2, replicated, unused, *([] if manual else [unreduced])]
        random.choice(places).append(part)

    def in_mesh_order(axes: list[AxisRef]) -> tuple[AxisRef, ...]:
        return merge_adjacent_axes(sorted(axes, key=lambda axis: axis.mesh_order(mesh)), mesh)

    sharding = TensorSharding(
        mesh,
        tuple(
            DimensionSharding(merge_adjacent_axes(axes, mesh), random.random() < 0.5)
            for axes in dims
        ),
        in_mesh_order(replicated),
        in_mesh_order(unreduced),
    )
    return sharding, manual


def named_text(sharding: TensorSharding, manual: list[str]) -> str:
    """Return XLA's text of a sharding that names its axes."""
    mesh = sharding.bound_mesh

    def axis_list(axes: Iterable[AxisRef]) -> str:
        return ", ".join(str(axis).replace('"', "'") for axis in axes)

    sizes = ",".join(f"'{axis.name}'={axis.size}" for axis in mesh.axes)
    ids = ", device_ids=({})".format(",".join(map(str, mesh.device_ids)))
    dimensions = ", ".join(f"{{{axis_list(d.axes)}}}" for d in sharding.dimensions)
    groups = {
        "replicated": sharding.replicated,
        "unreduced": sharding.unreduced,
        "manual": map(AxisRef, manual),
    }
    lists = {name: axis_list(axes) for name, axes in groups.items()}
    suffix = "".join(f", {name}={{{axes}}}" for name, axes in lists.items() if axes)
    return f"{{mesh[{sizes}]{ids if mesh.device_ids else ''}, [{dimensions}]{suffix}}}"


def test_a_sharding_on_a_mesh_is_what_xla_makes_of_it() -> None:
    random = Random(1)
    cases = [random_sharding(random) for _ in range(SAMPLES)]
    texts = [named_text(*case) for case in cases]
    for case, text, expected in zip(cases, texts, xla.from_named(texts), strict=True):
        assert str(HloSharding.from_sharding(*case)) == expected.text, text


def test_a_named_sharding_is_what_jax_makes_of_it() -> None:
    random = Random(2)
    for _ in range(SAMPLES):
        sizes = [random.choice([1, 2, 3, 4]) for _ in range(random.randint(1, 4))]
        names = [f"a{i}" for i in range(len(sizes))]
        rank = random.randint(1, 3)
        dims: list[list[str]] = [[] for _ in range(rank)]
        for name in random.sample(names, len(names)):
            random.choice([*dims, []]).append(name)
        spec = PartitionSpec(*map(tuple, dims))
        named = NamedSharding(AbstractMesh(tuple(sizes), tuple(names)), spec)
        ours = TensorSharding(
            Mesh(dict(zip(names, sizes, strict=True))),
            tuple(DimensionSharding(tuple(map(AxisRef, dim))) for dim in dims),
        )
        assert str(HloSharding.from_sharding(ours)) == str(named._to_xla_hlo_sharding(rank))


@pytest.mark.parametrize("spec", [("x",), ("y", "x"), (None, "y"), (("x", "y"),), ()])
def test_devices_hold_what_jax_gives_them(spec: tuple[str | tuple[str, ...] | None, ...]) -> None:
    mesh = AbstractMesh((2, 4), ("x", "y"))
    hlo = NamedSharding(mesh, PartitionSpec(*spec))._to_xla_hlo_sharding(2)
    shape = (16, 24)
    expected = jax._src.op_shardings.op_sharding_to_indices(hlo, shape, 8)
    ours = HloSharding.parse(str(hlo)).device_slices(shape, 8)
    for device, wanted in enumerate(expected):
        bounds = [s.indices(size) for s, size in zip(wanted, shape, strict=True)]
        assert [(s.start, s.stop) for s in ours[device]] == [bound[:2] for bound in bounds]
