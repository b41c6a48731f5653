"""The reference document "Sharding Representation", section by section.

Every snippet of it is parsed here as it stands, and everything that it states about values is
checked. What it says of open, closed and replicated is what propagation makes of them.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import sdy
from sdy.dialect.axes import AxisRef
from sdy.dialect.errors import VerifyError
from sdy.dialect.mesh import Mesh
from sdy.dialect.parser import parse_mesh, parse_sharding, parse_sharding_per_value
from sdy.dialect.sharding import TensorSharding

MESH_XYZ = '@mesh_xyz = <["x"=2, "y"=4, "z"=2]>'
MESH_XYZ_8 = '@mesh_xyz = <["x"=2, "y"=8, "z"=2]>'


def propagated(given: str, other: str) -> str:
    """Return what becomes of the sharding of a tensor that is added to another.

    Args:
      given: dimensions and replicated axes of the tensor, such as `[{"x"}, {?}]`; empty for none.
      other: those of the other tensor.

    """
    attribute = f"{{sdy.sharding = #sdy.sharding<@mesh_xyz, {given}>}}" if given else ""
    module = sdy.load(f"""
sdy.mesh {MESH_XYZ}
func.func @main(
    %given: tensor<4x8xf32> {attribute},
    %other: tensor<4x8xf32> {{sdy.sharding = #sdy.sharding<@mesh_xyz, {other}>}})
    -> tensor<4x8xf32> {{
  %0 = stablehlo.add %given, %other : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}}
""")
    sdy.run_pipeline(module, "builtin.module(sdy-basic-propagate)")
    return str(sdy.shardings(module)[0].sharding).removeprefix("sharding<@mesh_xyz, ")[:-1]


# ---- Overview: basic structure


def test_a_mesh_is_a_view_of_devices_with_axis_names_and_sizes() -> None:
    mesh = parse_mesh('@mesh_dm = <["d"=2, "m"=2]>')
    assert [(axis.name, axis.size) for axis in mesh.axes] == [("d", 2), ("m", 2)]
    assert mesh.devices().tolist() == [[0, 1], [2, 3]]


def test_d_is_the_rows_of_the_device_matrix_and_m_its_columns() -> None:
    mesh = parse_mesh('@mesh_dm = <["d"=2, "m"=2]>')
    tensor = np.array([["a", "b"], ["c", "d"]])

    def shards(text: str) -> list[list[list[str]]]:
        slices = parse_sharding(text, mesh).device_slices(tensor.shape)
        return [tensor[slices[device]].tolist() for device in range(4)]

    assert shards('sharding<@mesh_dm, [{"d"}, {"m"}]>') == [[["a"]], [["b"]], [["c"]], [["d"]]]
    assert shards('sharding<@mesh_dm, [{"m"}, {}]>') == [[["a", "b"]], [["c", "d"]]] * 2
    assert shards("sharding<@mesh_dm, [{}, {}]>") == [tensor.tolist()] * 4


def test_a_sharding_is_bound_to_a_mesh_by_name_and_refers_to_its_axes_only() -> None:
    sharding = parse_sharding('sharding<@mesh_xyz, [{"x"}]>', parse_mesh(MESH_XYZ))
    assert sharding.mesh_name == "mesh_xyz"
    with pytest.raises(VerifyError, match=r"unknown mesh: @mesh_abc"):
        parse_sharding('sharding<@mesh_abc, [{"x"}]>', parse_mesh(MESH_XYZ))
    with pytest.raises(VerifyError, match=r'unknown axis name: "a"'):
        parse_sharding('sharding<@mesh_xyz, [{"a"}]>', parse_mesh(MESH_XYZ))


# ---- Overview: other key components


def test_logical_meshes_may_differ_in_axes_and_in_the_order_of_devices() -> None:
    meshes = {
        "rows": Mesh({"d": 2, "m": 2}),
        "columns": Mesh({"m": 2, "d": 2}, [0, 2, 1, 3]),
        "flat": Mesh({"all": 4}),
    }
    rows, columns, flat = (
        parse_sharding(f"sharding<@{name}, [{axes}]>", meshes)
        for name, axes in [
            ("rows", '{"d"}, {"m"}'),
            ("columns", '{"d"}, {"m"}'),
            ("flat", '{"all":(1)2}, {"all":(2)2}'),
        ]
    )
    assert rows.is_equivalent(columns, (2, 2))
    assert rows.is_equivalent(flat, (2, 2))


def test_priorities_are_attached_to_dimensions() -> None:
    text = 'sharding<@mesh_xyz, [{"x"}p1, {"z", ?}p0, {?}]>'
    sharding = parse_sharding(text, parse_mesh(MESH_XYZ))
    assert [dimension.priority for dimension in sharding.dimensions] == [1, 0, None]
    assert str(sharding) == text


def test_the_size_of_a_dimension_need_not_be_divisible() -> None:
    sharding = parse_sharding(f'{MESH_XYZ} sharding<@mesh_xyz, [{{"y"}}]> : tensor<6xf32>')
    assert sharding.local_shape((6,)) == (2,)
    starts = {slices[0].start for slices in sharding.device_slices((6,)).values()}
    assert starts == {0, 2, 4, 6}


# ---- Detailed design: basic structure

BASIC = """
@mesh_xyz = <["x"=2, "y"=4, "z"=2]>

// The 1st tensor dimension is sharded along axis "x" and the 2nd tensor
// dimension is sharded along axis "z" then further along axis "y".
// The local shape of this tensor (i.e. the shape on a single device),
// would be tensor<2x1xf32>.
sharding<@mesh_xyz, [{"x"}, {"z", "y"}]> : tensor<4x8xf32>
"""


def test_axes_shard_a_dimension_from_major_to_minor() -> None:
    sharding = parse_sharding(BASIC)
    assert sharding.dimensions[0].axes == (AxisRef("x"),)
    assert sharding.dimensions[1].axes == (AxisRef("z"), AxisRef("y"))
    assert sharding.local_shape((4, 8)) == (2, 1)
    for device, (rows, columns) in sharding.device_slices((4, 8)).items():
        x, y, z = device // 8, device // 2 % 4, device % 2
        assert rows == slice(2 * x, 2 * x + 2)
        assert columns == slice(4 * z + y, 4 * z + y + 1)


def test_all_other_axes_are_implicitly_replicated() -> None:
    sharding = parse_sharding('sharding<@mesh_xyz, [{"x"}, {}]>', parse_mesh(MESH_XYZ))
    slices = sharding.device_slices((4, 8))
    for device in range(16):
        assert slices[device] == (slice(0, 2) if device < 8 else slice(2, 4), slice(0, 8))


def test_invariant_one_dimension_sharding_per_dimension() -> None:
    with pytest.raises(VerifyError, match=r"sharding doesn't match tensor rank: 2 != 3"):
        parse_sharding(BASIC.replace("4x8", "4x8x2"))


def test_invariant_axis_names_exist_in_the_mesh() -> None:
    with pytest.raises(VerifyError, match=r'unknown axis name: "w"'):
        parse_sharding(BASIC.replace('{"x"}', '{"w"}'))


@pytest.mark.parametrize(
    "body",
    [
        '[{"x"}, {"x"}]',
        '[{"x", "x"}, {}]',
        '[{"x"}, {}], replicated={"x"}',
        '[{"y":(1)2}, {"y":(1)2}]',
        '[{"y"}, {"y":(1)2}]',
        '[{"y":(1)2}, {}], replicated={"y"}',
    ],
)
def test_invariant_axes_and_sub_axes_appear_once(body: str) -> None:
    with pytest.raises(VerifyError, match=r"duplicate axis ref|both sub-axis and full-axis"):
        parse_sharding(f"{MESH_XYZ} sharding<@mesh_xyz, {body}>")


# ---- Open and closed dimensions

OPEN_AND_CLOSED = """
@mesh_xyz = <["x"=2, "y"=4, "z"=2]>

// The 1st dimension is closed, therefore it can't be further sharded and {"x"}
// will remain its sharding. The 2nd dimension is open, and can therefore be
// further sharded during propagation, e.g. by "y".
sharding<@mesh_xyz, [{"x"}, {"z", ?}]> : tensor<4x8xf32>
"""


def test_a_question_mark_makes_a_dimension_open() -> None:
    sharding = parse_sharding(OPEN_AND_CLOSED)
    assert [dimension.is_closed for dimension in sharding.dimensions] == [True, False]
    given = '[{"x"}, {"z", ?}]'
    assert propagated(given, '[{"x"}, {"z", "y"}]') == '[{"x"}, {"z", "y", ?}]'
    assert propagated(given, '[{"x", "y"}, {"z"}]') == given


def test_no_sharding_is_equivalent_to_a_fully_open_one() -> None:
    sharding = TensorSharding.fully_open(parse_mesh(MESH_XYZ), 2)
    assert str(sharding) == "sharding<@mesh_xyz, [{?}, {?}]>"
    assert sharding.has_no_axes
    assert sharding.local_shape((4, 8)) == (4, 8)
    for given in ("", "[{?}, {?}]"):
        assert propagated(given, '[{"x", "y"}, {"z"}]') == '[{"x", "y", ?}, {"z", ?}]'


# ---- Explicitly replicated axes

REPLICATED = """
@mesh_xyz = <["x"=2, "y"=4, "z"=2]>

// Since "y" is explicitly replicated, it can't be used to shard the 2nd
// dimension that is open. However, "z" is implicitly replicated so it can be
// used to shard any dimension. "z" doesn't shard any dimension here, so the
// local shape of this tensor (i.e. the shape on a single device), would be
// tensor<2x8xf32>.
sharding<@mesh_xyz, [{"x"}, {?}], replicated={"y"}> : tensor<4x8xf32>
"""


def test_an_explicitly_replicated_axis_may_not_shard_an_open_dimension() -> None:
    sharding = parse_sharding(REPLICATED)
    assert sharding.replicated == (AxisRef("y"),)
    given = '[{"x"}, {?}], replicated={"y"}'
    assert propagated(given, '[{"x"}, {"z"}]') == '[{"x"}, {"z", ?}], replicated={"y"}'
    assert propagated(given, '[{"x"}, {"y"}]') == given
    assert sharding.local_shape((4, 8)) == (2, 8)


def test_replicated_axes_do_not_change_how_data_is_stored() -> None:
    sharding = parse_sharding(REPLICATED)
    without = parse_sharding('sharding<@mesh_xyz, [{"x"}, {?}]>', sharding.bound_mesh)
    assert sharding.is_equivalent(without, (4, 8))


def test_replicated_axes_stand_in_the_order_of_the_mesh() -> None:
    mesh = parse_mesh('@mesh_cab = <["c"=2, "a"=2, "b"=2]>')
    sharding = parse_sharding('sharding<@mesh_cab, [{}], replicated={"c", "a"}>', mesh)
    with pytest.raises(VerifyError, match=r"replicated axes are not ordered w.r.t. mesh"):
        parse_sharding('sharding<@mesh_cab, [{}], replicated={"a", "c"}>', mesh)
    reordered = TensorSharding(mesh, sharding.dimensions, (AxisRef("a"), AxisRef("c")))
    assert reordered.canonical() == sharding


# ---- Axis splitting and sub-axes

MESH_X = '@mesh_x = <["x"=4]>'
MOTIVATION = 'sdy.sharding=<@mesh_x, [{"x"}]>'
SPLIT = 'sdy.sharding_per_value=<[<@mesh_x, [{"x":(1)2}, {"x":(2)2}]>]>'


def test_the_reshape_that_splits_an_axis_keeps_the_data_where_it_is() -> None:
    mesh = parse_mesh(MESH_X)
    before = parse_sharding(MOTIVATION, mesh)
    (after,) = parse_sharding_per_value(SPLIT, mesh).shardings
    before.verify(shape=(8,))
    after.verify(shape=(2, 4))
    assert before.local_shape((8,)) == (2,)
    assert after.local_shape((2, 4)) == (1, 2)
    tensor = np.arange(8)
    for device in range(4):
        here = tensor[before.device_slices((8,))[device]]
        there = tensor.reshape(2, 4)[after.device_slices((2, 4))[device]]
        assert here.tolist() == there.ravel().tolist()


def test_an_axis_splits_into_sub_axes_as_the_mesh_is_reshaped() -> None:
    mesh = parse_mesh(MESH_X)
    assert AxisRef("x").split(2, mesh) == (AxisRef.sub("x", 1, 2), AxisRef.sub("x", 2, 2))
    reshaped = Mesh({"x.0": 2, "x.1": 2})
    for split, whole in [('{"x.0"}', '{"x":(1)2}'), ('{"x.1"}', '{"x":(2)2}')]:
        first = parse_sharding(f"sharding<@reshaped, [{split}]>", reshaped)
        assert first.is_equivalent(parse_sharding(f"sharding<@mesh_x, [{whole}]>", mesh), (8,))


@pytest.mark.parametrize(
    ("pre_size", "size"),
    [(m, k) for m in (1, 2, 3, 4, 6) for k in (2, 3, 4, 6) if 12 % (m * k) == 0],
)
def test_a_sub_axis_is_the_middle_of_the_axis_reshaped(pre_size: int, size: int) -> None:
    """`"x":(m)k` of an axis of size n is the 2nd dimension of n reshaped to [m, k, n/(m*k)]."""
    mesh = Mesh({"x": 12}, name="mesh")
    sharding = parse_sharding(f'sharding<@mesh, [{{"x":({pre_size}){size}}}]>', mesh)
    post_size = 12 // (pre_size * size)
    assert AxisRef.sub("x", pre_size, size).next_pre_size(mesh) * post_size == 12
    places = np.arange(12).reshape(pre_size, size, post_size)
    for device, (part,) in sharding.device_slices((size,)).items():
        assert part.start == np.argwhere(places == device)[0][1]


@pytest.mark.parametrize(
    ("sub_axis", "message"),
    [
        ("(0)2", "sub-axis pre-size must be at least 1"),
        ("(1)1", "sub-axis sizes must be greater than 1"),
        ("(3)2", "sub-axis next pre-size 6 doesn't divide the size of the full axis 8"),
        ("(1)3", "sub-axis next pre-size 3 doesn't divide the size of the full axis 8"),
        ("(4)4", "sub-axis next pre-size 16 doesn't divide the size of the full axis 8"),
        ("(1)8", "sub-axis size is equal to the full axis size"),
    ],
)
def test_pre_size_and_size_are_divisors(sub_axis: str, message: str) -> None:
    with pytest.raises(VerifyError, match=re.escape(message)):
        parse_sharding(f'{MESH_XYZ_8} sharding<@mesh_xyz, [{{"y":{sub_axis}}}]>')


SOME_SUB_AXES = """
@mesh_xyz = <["x"=2, "y"=8, "z"=2]>

// Axis "y" is effectively split into 3 sub-axes denoted as
//   "y":(1)2, "y":(2)2, "y":(4)2
// in order, but only "y":(2)2 is used, to shard the 2nd dimension. The local
// shape of this tensor (i.e. the shape on a single device), would be
// tensor<2x4xf32>.
sharding<@mesh_xyz, [{"x"}, {"y":(2)2}]> : tensor<4x8xf32>
"""


def test_sub_axes_that_are_not_used_need_not_be_named() -> None:
    sharding = parse_sharding(SOME_SUB_AXES)
    assert sharding.local_shape((4, 8)) == (2, 4)
    mesh = sharding.bound_mesh
    major, rest = AxisRef("y").split(2, mesh)
    middle, minor = rest.split(2, mesh)
    assert [str(axis) for axis in (major, middle, minor)] == ['"y":(1)2', '"y":(2)2', '"y":(4)2']
    assert sharding.dimensions[1].axes == (middle,)
    assert math.prod(axis.size(mesh) for axis in (major, middle, minor)) == 8


def test_mesh_xy_is_a_splitting_of_mesh_full() -> None:
    meshes = {
        "mesh_full": parse_mesh('@mesh_full = <"devices"=8>'),
        "mesh_xy": parse_mesh('@mesh_xy = <"x"=4, "y"=2>'),
    }
    split = parse_sharding('sharding<@mesh_xy, [{"x"},{ "y"}]> : tensor<4x4xf32>', meshes)
    full = parse_sharding(
        'sharding<@mesh_full, [{"devices":(1)4}, {"devices":(4)2}]> : tensor<4x4xf32>', meshes
    )
    assert split != full
    assert split.is_equivalent(full, (4, 4))
    assert full.is_equivalent(split, (4, 4))
    assert split.local_shape((4, 4)) == full.local_shape((4, 4)) == (1, 2)


# ---- Explicitly replicated sub-axes


def test_sub_axes_may_be_explicitly_replicated_next_to_others_that_shard() -> None:
    sharding = parse_sharding(
        f'{MESH_XYZ_8} sharding<@mesh_xyz, [{{"x"}}, {{"y":(2)2}}], replicated={{"y":(1)2}}>'
        " : tensor<4x8xf32>"
    )
    assert sharding.replicated == (AxisRef.sub("y", 1, 2),)
    assert sharding.local_shape((4, 8)) == (2, 4)
    implicit = AxisRef.sub("y", 4, 2)
    assert not any(axis.overlaps(implicit) for axis in sharding.axes())
    with pytest.raises(VerifyError, match=r"duplicate axis ref"):
        parse_sharding(f'{MESH_XYZ_8} sharding<@mesh_xyz, [{{"y":(1)2}}], replicated={{"y":(1)2}}>')


def test_the_forms_that_the_documents_use_are_read_alike() -> None:
    mesh = parse_mesh(MESH_XYZ)
    braces = parse_sharding('sharding<@mesh_xyz, [{"x"}, {"z", ?}p1], replicated={"y":(1)2}>', mesh)
    angles = parse_sharding('sharding<@mesh_xyz, [<"x">, <"z", ?>p1], replicated=<"y":(1)2>>', mesh)
    assert braces == angles
