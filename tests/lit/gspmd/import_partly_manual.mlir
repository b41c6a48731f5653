// RUN: sdy-opt %s --xla-sdy-stablehlo-import-pipeline | filecheck %s

// Where subgroups are manual, the other axes stay free in the body.

// CHECK: sdy.mesh @mesh = <["_axis_0"=2, "_axis_1"=4]>

// CHECK-LABEL: func.func public @main
// CHECK-SAME: (%arg0: tensor<8x16xf32>) -> tensor<8x16xf32>
// CHECK-NEXT: %[[COMPUTATION:.*]] = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"_axis_0"}, {?}]>] out_shardings=[<@mesh, [{"_axis_0"}, {?}]>] manual_axes={"_axis_0"} (%arg1: tensor<4x16xf32>) {
// CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %arg1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"_axis_1"}]>]>} : tensor<4x16xf32>
// CHECK-NEXT: sdy.return %[[NEGATE]] : tensor<4x16xf32>
// CHECK-NEXT: } : (tensor<8x16xf32>) -> tensor<8x16xf32>
// CHECK-NEXT: return %[[COMPUTATION]] : tensor<8x16xf32>
func.func public @main(%arg0: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = stablehlo.custom_call @Sharding(%arg0) {backend_config = "unspecified_dims=[1]", mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {backend_config = "unspecified_dims=[1]", mhlo.sharding = "{devices=[1,1,4,2]<=[2,4]T(1,0) last_tile_dims={replicated, manual}}"} : (tensor<8x16xf32>) -> tensor<4x16xf32>
  %2 = call @body(%1) : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %3 = stablehlo.custom_call @Sharding(%2) {backend_config = "unspecified_dims=[1]", mhlo.sharding = "{devices=[1,1,4,2]<=[2,4]T(1,0) last_tile_dims={replicated, manual}}"} : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {backend_config = "unspecified_dims=[1]", mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"} : (tensor<4x16xf32>) -> tensor<8x16xf32>
  return %4 : tensor<8x16xf32>
}
func.func private @body(%arg0: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %0 = stablehlo.negate %arg0 {mhlo.sharding = "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dims={manual}}"} : tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}
