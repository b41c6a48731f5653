// RUN: sdy-opt %s --xla-sdy-stablehlo-export-pipeline | filecheck %s

// Along manual axes a tensor is in a subgroup of its own; where all axes are manual, that is all.

// CHECK-NOT: sdy.mesh

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>

// CHECK-LABEL: func.func @with_free_axes
func.func @with_free_axes(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: mhlo.copy %arg0 {mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"}
  // CHECK: @SPMDFullToShardShape{{.*}} {mhlo.sharding = "{devices=[2,1,2,2]<=[2,2,2]T(1,0,2) last_tile_dims={manual, replicated}}"}
  // CHECK: call @xla.sdy.inlinable_manual_computation_body(%{{.*}}) {mhlo.sharding = "{devices=[2,2,2]<=[2,4]T(1,0) last_tile_dims={manual}}"}
  // CHECK: @SPMDShardToFullShape{{.*}} {mhlo.sharding = "{devices=[4,2]<=[8]}"}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a", "b"}, {}], replicated={"c"}>] out_shardings=[<@mesh, [{"a", "b"}, {"c"}]>] manual_axes={"a"} (%arg1: tensor<4x8xf32>) {
    %1 = stablehlo.negate %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}, {"c"}]>]>} : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @manual_along_all
func.func @manual_along_all(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: @SPMDFullToShardShape{{.*}} {mhlo.sharding = "{manual}"}
  // CHECK: @SPMDShardToFullShape{{.*}} {mhlo.sharding = "{devices=[8]<=[8]}"}
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a", "b", "c"}]>] out_shardings=[<@mesh, [{"a", "b", "c"}]>] manual_axes={"a", "b", "c"} (%arg1: tensor<1xf32>) {
    %1 = stablehlo.constant dense<0> : tensor<i32>
    %2:2 = stablehlo.while(%iter = %arg1, %i = %1) : tensor<1xf32>, tensor<i32>
    cond {
      %3 = stablehlo.compare LT, %i, %1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3 = stablehlo.add %iter, %iter : tensor<1xf32>
      %4 = stablehlo.add %i, %i : tensor<i32>
      stablehlo.return %3, %4 : tensor<1xf32>, tensor<i32>
    }
    sdy.return %2#0 : tensor<1xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func private @xla.sdy.inlinable_manual_computation_body(
// CHECK: stablehlo.negate %arg0 {mhlo.sharding = "{devices=[2,2,2]<=[2,4]T(1,0) last_tile_dims={manual}}"}

// CHECK-LABEL: func.func private @xla.sdy.inlinable_manual_computation_body_0(
// CHECK-SAME: %arg0: tensor<1xf32> {mhlo.sharding = "{manual}"}) -> (tensor<1xf32> {mhlo.sharding = "{manual}"})
// CHECK: stablehlo.constant {mhlo.sharding = "{manual}"} dense<0>
// CHECK: stablehlo.while
// CHECK-SAME: attributes {mhlo.sharding = "{{[{][{]}}manual}, {manual}}"}
// CHECK: stablehlo.compare {{.*}} {mhlo.sharding = "{manual}"}
