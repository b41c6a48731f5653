// A mesh that is written out in a sharding gets a name in the module.
//
// RUN: sdy-opt %s --split-input-file --sdy-lift-inlined-meshes | filecheck %s

// Names are given in the order in which meshes are met: arguments, results, body. A known mesh
// keeps its name, and the copy of one goes.
//
// CHECK:      sdy.mesh @first = <["a"=4]> {stablehlo.mesh = {axes = [{name = "a", size = 4 : i64}]}}
// CHECK-NEXT: sdy.mesh @mesh = <["x"=2]>
// CHECK-NEXT: sdy.mesh @mesh_0 = <["y"=2]>
// CHECK-NEXT: sdy.mesh @mesh_1 = <["x"=2], device_ids=[1, 0]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}], device_ids = dense<[1, 0]> : tensor<2xi64>}}
// CHECK-NOT:  sdy.mesh
sdy.mesh @first = <["a"=4]>
sdy.mesh @copy = <["a"=4]>

// CHECK-LABEL: func @names
// CHECK-SAME:    %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}
// CHECK-SAME:    %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@first, [{?}]>}
// CHECK-SAME:    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh_0, [{"y"}]>})
func.func @names(
    %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>},
    %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@copy, [{?}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["y"=2]>, [{"y"}]>}) {
  // CHECK-NEXT: stablehlo.add {{.*}}#sdy.sharding_per_value<[<@first, [{"a"}]>]>
  %0 = stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<mesh<["a"=4]>, [{"a"}]>]>} : tensor<8xf32>
  // CHECK-NEXT: sdy.sharding_constraint %{{.*}} <@mesh_1, [{"x"}]>
  %1 = sdy.sharding_constraint %0 <mesh<["x"=2], device_ids=[1, 0]>, [{"x"}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// CHECK:      sdy.mesh @maximal_mesh_3 = <[], device_ids=[3]>
// CHECK-NEXT: sdy.mesh @empty_mesh = <[]>

// CHECK-LABEL: func @without_axes
func.func @without_axes(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: sdy.sharding_constraint %arg0 <@maximal_mesh_3, []>
  %0 = sdy.sharding_constraint %arg0 <mesh<[], device_ids=[3]>, []> : tensor<8xf32>
  // CHECK-NEXT: sdy.sharding_constraint %{{.*}} <@empty_mesh, [{}]>
  %1 = sdy.sharding_constraint %0 <mesh<[]>, [{}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// The mesh of a collective's replica groups is lifted too.
//
// CHECK: sdy.mesh @mesh = <["z"=4]>

// CHECK-LABEL: func @replica_groups
func.func @replica_groups(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "z">]>
  %0 = "stablehlo.all_reduce"(%arg0) ({
  ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
    %1 = stablehlo.add %arg1, %arg2 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {replica_groups = #stablehlo.replica_group_mesh_axes<
    mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "z", size = 4>]>,
    axes = [#stablehlo.axis_ref<name = "z">]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
