"""Groups of devices along axes of a mesh."""

from __future__ import annotations

from sdy.dialect.axes import AxisRef
from sdy.dialect.device_groups import groups_along
from sdy.dialect.mesh import Mesh

MESH = Mesh({"x": 2, "y": 4})


def test_groups_are_rows() -> None:
    assert groups_along(MESH, [AxisRef("y")]).devices().tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert groups_along(MESH, [AxisRef("x")]).devices().tolist() == [
        [0, 4],
        [1, 5],
        [2, 6],
        [3, 7],
    ]


def test_devices_are_in_the_order_of_the_axes() -> None:
    axes = [AxisRef("y"), AxisRef("x")]
    assert groups_along(MESH, axes).devices().tolist() == [[0, 4, 1, 5, 2, 6, 3, 7]]


def test_an_axis_may_be_a_part_of_one() -> None:
    assert groups_along(MESH, [AxisRef.sub("y", 2, 2)]).devices().tolist() == [
        [0, 1],
        [2, 3],
        [4, 5],
        [6, 7],
    ]


def test_the_mesh_may_list_its_devices() -> None:
    listed = Mesh({"x": 2, "y": 2}, (3, 1, 2, 0))
    assert groups_along(listed, [AxisRef("y")]).devices().tolist() == [[3, 1], [2, 0]]
