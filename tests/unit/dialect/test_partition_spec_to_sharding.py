"""Partition specs as tensor shardings, and meshes whose axes are split."""

from __future__ import annotations

import pytest

from sdy.dialect.axes import AxisRef
from sdy.dialect.errors import VerifyError
from sdy.dialect.hlo_sharding import HloSharding
from sdy.dialect.mesh import Mesh
from sdy.dialect.mesh_parts import MeshParts
from sdy.dialect.partition_spec import Entry
from sdy.dialect.sharding import TensorSharding

MESH = Mesh({"x": 2, "y": 4}, [7, 6, 5, 4, 3, 2, 1, 0], name="mesh")
SPECS: list[tuple[Entry, ...]] = [
    (None, None),
    ("x", None),
    (1, 0),
    (None, ("y", "x")),
    (("x", 1), None),
    ((), "y"),
]


@pytest.mark.parametrize("spec", SPECS)
def test_both_kinds_of_sharding_put_the_same_tiles(spec: tuple[Entry, ...]) -> None:
    sharding = TensorSharding.from_partition_spec(MESH, spec, rank=2)
    assert all(dimension.is_closed for dimension in sharding.dimensions)
    theirs = HloSharding.from_partition_spec(MESH, spec)
    assert sharding.device_slices((8, 8)) == theirs.device_slices((8, 8), 8)


def test_a_spec_has_an_entry_for_each_dimension() -> None:
    with pytest.raises(VerifyError, match="2 entries for a tensor of rank 3"):
        TensorSharding.from_partition_spec(MESH, ("x", None), rank=3)


@pytest.mark.parametrize(
    ("mesh", "axes", "split", "names"),
    [
        ({"x": 4}, [AxisRef("x")], {"x": 4}, ["x"]),
        ({"x": 1}, [AxisRef("x")], {"x": 1}, ["x"]),
        ({"x": 4}, [AxisRef.sub("x", 2, 2)], {"x.0": 2, "x.1": 2}, ["x.1"]),
        (
            {"y": 3, "x": 8},
            [AxisRef.sub("x", 2, 2), AxisRef("y"), AxisRef.sub("x", 1, 2)],
            {"y": 3, "x.0": 2, "x.1": 2, "x.2": 2},
            ["x.1", "y", "x.0"],
        ),
        (
            {"x": 8},
            [AxisRef.sub("x", 1, 4), AxisRef.sub("x", 2, 4)],
            {"x.0": 2, "x.1": 2, "x.2": 2},
            ["x.0", "x.1", "x.1", "x.2"],
        ),
        ({"x": 4, "x.1": 2}, [AxisRef.sub("x", 1, 2)], {"x..0": 2, "x..1": 2, "x.1": 2}, ["x..0"]),
    ],
)
def test_split_meshes(
    mesh: dict[str, int], axes: list[AxisRef], split: dict[str, int], names: list[str]
) -> None:
    parts = MeshParts(Mesh(mesh), axes)
    assert parts.split_mesh() == Mesh(split)
    assert parts.part_names(axes) == names


def test_a_split_mesh_has_the_same_devices() -> None:
    split = MeshParts(MESH, [AxisRef.sub("y", 2, 2)]).split_mesh()
    assert split == Mesh({"x": 2, "y.0": 2, "y.1": 2}, MESH.device_ids, name="mesh")
