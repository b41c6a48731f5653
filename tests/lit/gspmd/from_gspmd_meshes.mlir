// RUN: sdy-opt %s --sdy-from-gspmd='allow-propagation-to-args=true' --split-input-file | filecheck %s

// Devices that are no iota: the mesh lists them. Arguments of @main are open if that is asked for.

// CHECK: sdy.mesh @mesh = <["_axis_0"=2, "_axis_1"=2], device_ids=[3, 1, 2, 0]>
// CHECK: func.func @main
// CHECK-SAME: [{"_axis_0", ?}, {"_axis_1", ?}]
// CHECK-SAME: [{"_axis_1", ?}, {?}]
// CHECK-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"_axis_0"}]>})
func.func @main(
    %arg0: tensor<8x8xf32> {mhlo.sharding = "{devices=[2,2]3,1,2,0}"},
    %arg1: tensor<8x8xf32> {mhlo.sharding = "{devices=[2,1,2]2,3,0,1 last_tile_dim_replicate}"})
    -> (tensor<8x8xf32> {mhlo.sharding = "{devices=[1,2,2]1,3,0,2 last_tile_dim_replicate}"}) {
  return %arg0 : tensor<8x8xf32>
}

// -----

// No factors in common: a mesh for each. Names that are taken are left alone.

// CHECK: sdy.mesh @mesh_1 = <["_axis_0"=2, "_axis_1"=3]>
// CHECK: sdy.mesh @mesh_2 = <["_axis_0"=3, "_axis_1"=2]>
// CHECK: func.func @mesh
// CHECK-SAME: <@mesh_1, [{"_axis_0"}, {"_axis_1"}]>
// CHECK-SAME: <@mesh_2, [{"_axis_0"}, {"_axis_1"}]>
func.func @mesh(
    %arg0: tensor<6x6xf32> {mhlo.sharding = "{devices=[2,3]<=[6]}"},
    %arg1: tensor<6x6xf32> {mhlo.sharding = "{devices=[3,2]<=[6]}"}) {
  return
}

// -----

// A mesh that is there is used, in parts where need be.

// CHECK: sdy.mesh @world = <["data"=4, "model"=2]>
// CHECK-NOT: sdy.mesh
// CHECK: func.func @on_a_known_mesh
// CHECK-SAME: <@world, [{"data":(1)2}, {"data":(2)2, "model"}]>
sdy.mesh @world = <["data"=4, "model"=2]>
func.func @on_a_known_mesh(%arg0: tensor<8x8xf32> {mhlo.sharding = "{devices=[2,4]<=[8]}"}) {
  return
}

// -----

// A sharding that names its mesh keeps the names.

// CHECK: sdy.mesh @mesh = <["x"=2, "y"=4]>
// CHECK: func.func @with_names
// CHECK-SAME: <@mesh, [{"x"}, {?}], replicated={"y"}>
func.func @with_names(
    %arg0: tensor<8x8xf32> {mhlo.sharding = "{mesh['x'=2,'y'=4], [{'x'}, {?}], replicated={'y'}}"}) {
  return
}
