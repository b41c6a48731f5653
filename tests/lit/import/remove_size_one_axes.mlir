// Axes of size one leave all shardings; the mesh keeps them.
//
// RUN: sdy-opt %s --split-input-file --sdy-remove-size-one-axes | filecheck %s

// CHECK: sdy.mesh @mesh = <["x"=2, "one"=1, "y"=2, "unit"=1]>
sdy.mesh @mesh = <["x"=2, "one"=1, "y"=2, "unit"=1]>

// A closed dimension without axes may have no priority, an open one may.
//
// CHECK-LABEL: func @everywhere
// CHECK-SAME:    %arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}p1, {}]>}
// CHECK-SAME:    %arg1: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}p1, {?}], replicated={"y"}>}
func.func @everywhere(
    %arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "one"}p1, {"unit"}p2]>},
    %arg1: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"one", ?}p1, {?}], replicated={"y", "unit"}>})
    -> tensor<4x4xf32> {
  // CHECK-NEXT: stablehlo.add {{.*}}#sdy.sharding_per_value<[<@mesh, [{?}, {"x"}]>]>
  %0 = stablehlo.add %arg0, %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"one", ?}, {"x"}]>]>} : tensor<4x4xf32>
  // CHECK-NEXT: sdy.sharding_constraint %{{.*}} <@mesh, [{}, {}], unreduced={"y"}>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}, {}], unreduced={"one", "y"}> : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// Only the meshes of the module count: without such an axis there, nothing is done.
//
// CHECK-LABEL: func @inlined
// CHECK-SAME:    #sdy.sharding<mesh<["one"=1]>, [{"one"}]>
func.func @inlined(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<mesh<["one"=1]>, [{"one"}]>}) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
