// RUN: sdy-opt %s --xla-sdy-stablehlo-import-pipeline | filecheck %s

// A body between calls that change the shapes from whole to shards and back is a manual computation.

// CHECK: sdy.mesh @mesh = <["_axis_0"=2, "_axis_1"=4]>

// CHECK-LABEL: func.func public @main
// CHECK-SAME: (%arg0: tensor<8x16xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[COMPUTATION:.*]] = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"_axis_0"}, {"_axis_1"}]>] out_shardings=[<@mesh, [{"_axis_1"}]>] manual_axes={"_axis_0", "_axis_1"} (%arg1: tensor<4x4xf32>) {
// CHECK-NEXT: %[[SLICE:.*]] = stablehlo.slice %arg1 [0:2, 0:1] : (tensor<4x4xf32>) -> tensor<2x1xf32>
// CHECK-NEXT: %[[RESHAPE:.*]] = stablehlo.reshape %[[SLICE]] : (tensor<2x1xf32>) -> tensor<2xf32>
// CHECK-NEXT: sdy.return %[[RESHAPE]] : tensor<2xf32>
// CHECK-NEXT: } : (tensor<8x16xf32>) -> tensor<8xf32>
// CHECK-NEXT: return %[[COMPUTATION]] : tensor<8xf32>
func.func public @main(%arg0: tensor<8x16xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[2,4]<=[8]}"} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8x16xf32>) -> tensor<4x4xf32>
  %2 = call @shmap_body(%1) : (tensor<4x4xf32>) -> tensor<2xf32>
  %3 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = "{manual}"} : (tensor<2xf32>) -> tensor<2xf32>
  %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {mhlo.sharding = "{devices=[4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"} : (tensor<2xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}
func.func private @shmap_body(%arg0: tensor<4x4xf32>) -> tensor<2xf32> {
  %0 = stablehlo.slice %arg0 [0:2, 0:1] : (tensor<4x4xf32>) -> tensor<2x1xf32>
  %1 = stablehlo.reshape %0 : (tensor<2x1xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
