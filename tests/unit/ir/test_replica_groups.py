"""Collectives whose groups are axes of a mesh."""

from __future__ import annotations

import pytest
from jaxlib.mlir.dialects import stablehlo

from sdy.ir.indexed_module import IndexedModule
from sdy.ir.load import load
from sdy.ir.replica_groups import list_groups

PROGRAM = """
sdy.mesh @mesh = <["x"=2, "y"=4]> {{
    stablehlo.mesh = {{axes = [{{name = "x", size = 2 : i64}}, {{name = "y", size = 4 : i64}}]}}}}
func.func @main(%x: tensor<4xf32>) -> tensor<8xf32> {{
  %0 = "stablehlo.all_gather"(%x) <{{all_gather_dim = 0 : i64,
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
      replica_groups = {groups}, use_global_device_ids}}> : (tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}}
"""
LISTED = "dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>"


@pytest.mark.skipif(
    not hasattr(stablehlo, "ReplicaGroupMeshAxesAttr"),
    reason="groups are axes of a mesh from jaxlib 0.12 on",
)
def test_axes_become_devices() -> None:
    axes = (
        '#stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>'
    )
    module = load(PROGRAM.format(groups=axes))
    list_groups(IndexedModule(module))
    assert str(module) == str(load(PROGRAM.format(groups=LISTED)))


def test_devices_stay_as_they_are() -> None:
    module = load(PROGRAM.format(groups=LISTED))
    before = str(module)
    list_groups(IndexedModule(module))
    assert str(module) == before
