// RUN: sdy-opt %s --sdy-to-gspmd='complete=false' | filecheck %s

// A program that was only marked: what is not known is left for GSPMD to decide.

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg0: tensor<8x8xf32> {mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"}
// CHECK-SAME: %arg1: tensor<8x8xf32>, %arg2: tensor<8x8xf32>
func.func @main(
    %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>},
    %arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {?}]>},
    %arg2: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK-NEXT: %[[ADDED:.*]] = stablehlo.add %arg0, %arg1 : tensor<8x8xf32>
  %0 = stablehlo.add %arg0, %arg1 : tensor<8x8xf32>
  // CHECK-NEXT: stablehlo.custom_call @Sharding(%[[ADDED]]) {backend_config = "unspecified_dims=[0]",
  // CHECK-SAME: mhlo.sharding = "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"}
  %1 = sdy.sharding_constraint %0 <@mesh, [{?}, {"y"}]> : tensor<8x8xf32>
  // CHECK-NEXT: %[[LAST:.*]] = stablehlo.add
  %2 = sdy.sharding_constraint %1 <@mesh, [{?}, {?}]> : tensor<8x8xf32>
  %3 = stablehlo.add %2, %arg2 : tensor<8x8xf32>
  // CHECK-NEXT: return %[[LAST]]
  return %3 : tensor<8x8xf32>
}
