"""Partition specs as torch_xla's `mark_sharding` reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sdy.dialect.errors import VerifyError
from sdy.dialect.hlo_sharding import HloSharding
from sdy.dialect.mesh import Mesh

# What torch_xla makes of 60 partition specs.
CASES = json.loads(Path(__file__).with_name("partition_specs.json").read_text(encoding="utf-8"))

MESH = Mesh({"x": 2, "y": 4}, name="mesh")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["sharding"])
def test_the_sharding_is_that_of_torch_xla(case: dict[str, Any]) -> None:
    mesh = Mesh({f"axis_{i}": n for i, n in enumerate(case["mesh_shape"])}, case["device_ids"])
    spec = [tuple(entry) if isinstance(entry, list) else entry for entry in case["partition_spec"]]
    by_index = HloSharding.from_partition_spec(mesh, spec, rank=len(spec), num_devices=mesh.size)
    assert str(by_index) == case["sharding"]
    names = [
        tuple(mesh.axis_names[i] for i in entry)
        if isinstance(entry, tuple)
        else None
        if entry is None
        else mesh.axis_names[entry]
        for entry in spec
    ]
    assert HloSharding.from_partition_spec(mesh, names) == by_index


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ((), "{replicated}"),
        ((None, None), "{replicated}"),
        (("x", "y"), "{devices=[2,4]0,1,2,3,4,5,6,7}"),
        (("y", "x"), "{devices=[4,2]0,4,1,5,2,6,3,7}"),
        ((("y", "x"), None), "{devices=[8,1]0,4,1,5,2,6,3,7}"),
        (("x", None), "{devices=[2,1,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}"),
        (("x",), "{devices=[2,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}"),
        (((), "x"), "{devices=[1,2,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}"),
    ],
)
def test_axes_that_are_left_over_hold_replicas(spec: tuple[Any, ...], text: str) -> None:
    assert str(HloSharding.from_partition_spec(MESH, spec)) == text


def test_a_single_device_is_maximal() -> None:
    one = Mesh({"x": 1}, name="mesh")
    assert HloSharding.from_partition_spec(one, ("x", None)) == HloSharding.maximal(0)
    assert HloSharding.from_partition_spec(one, (None,)) == HloSharding.maximal(0)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (("x",), "the partition spec has 1 entries for a tensor of rank 2"),
        (("x", None, None), "the partition spec has 3 entries for a tensor of rank 2"),
        (("x", "z"), 'unknown axis name: "z"'),
        ((0, 2), "axis 2 of a mesh with 2 axes"),
        ((0, -1), "axis -1 of a mesh with 2 axes"),
        (("x", "x"), 'axis "x" is used twice'),
        (("y", (0, 1)), 'axis "y" is used twice'),
        (("x", 1.5), r"1\.5 in a partition spec: expected None, the name or the index"),
    ],
)
def test_a_spec_that_does_not_fit_is_refused(spec: tuple[Any, ...], message: str) -> None:
    with pytest.raises(VerifyError, match=message):
        HloSharding.from_partition_spec(MESH, spec, rank=2)


def test_the_mesh_must_be_of_all_devices() -> None:
    with pytest.raises(VerifyError, match=r"the mesh has 8 devices, but there are 16"):
        HloSharding.from_partition_spec(MESH, ("x",), num_devices=16)
    with pytest.raises(VerifyError, match=r"device ids must be iota"):
        HloSharding.from_partition_spec(Mesh({"x": 2}, [4, 5]), ("x",))
    with pytest.raises(VerifyError, match=r"of all devices, not of one"):
        HloSharding.from_partition_spec(Mesh.maximal(3), ())
