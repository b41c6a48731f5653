// RUN: sdy-opt %s --sdy-from-gspmd | filecheck %s

// Code that works on shards need not be in a function: it is from where shards are made to where
// whole tensors are.

// CHECK-LABEL: func.func public @main
func.func public @main(%arg0: tensor<8x16xf32> {mhlo.sharding = "{devices=[2,4]<=[8]}"}, %arg1: tensor<8x16xf32>, %arg2: tensor<4x4xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<4x4xf32>) {
  %c = stablehlo.constant dense<2.0> : tensor<f32>
  // CHECK: %[[SINE:.*]] = stablehlo.sine %arg0
  %0 = stablehlo.sine %arg0 : tensor<8x16xf32>
  // CHECK-NEXT: %[[AFTER:.*]] = stablehlo.cosine %arg2
  // CHECK-NEXT: %[[LOCAL:.*]]:2 = sdy.manual_computation(%[[SINE]], %arg1, %arg2)
  // CHECK-SAME: in_shardings=[<@mesh, [{"_axis_0"}, {"_axis_1"}]>, <@mesh, [{"_axis_0"}, {"_axis_1"}]>, <@mesh, [{}, {}]>]
  // CHECK-SAME: out_shardings=[<@mesh, [{"_axis_0"}, {"_axis_1"}]>, <@mesh, [{"_axis_0"}, {"_axis_1"}]>] manual_axes={"_axis_0", "_axis_1"}
  // CHECK-SAME: (%arg3: tensor<4x4xf32>, %arg4: tensor<4x4xf32>, %arg5: tensor<4x4xf32>)
  %1 = stablehlo.custom_call @Sharding(%0) {mhlo.sharding = "{devices=[2,4]<=[8]}"} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = stablehlo.custom_call @SPMDFullToShardShape(%1) {mhlo.sharding = "{manual}"} : (tensor<8x16xf32>) -> tensor<4x4xf32>
  %3 = stablehlo.custom_call @Sharding(%arg1) {mhlo.sharding = "{devices=[2,4]<=[8]}"} : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %4 = stablehlo.custom_call @SPMDFullToShardShape(%3) {mhlo.sharding = "{manual}"} : (tensor<8x16xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: %[[TWO:.*]] = stablehlo.constant dense<2.000000e+00>
  // CHECK-NEXT: %[[TWOS:.*]] = stablehlo.broadcast_in_dim %[[TWO]], dims = [] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>}
  %5 = stablehlo.broadcast_in_dim %c, dims = [] {mhlo.sharding = "{manual}"} : (tensor<f32>) -> tensor<4x4xf32>
  // CHECK-NEXT: %[[PRODUCT:.*]] = stablehlo.multiply %arg3, %[[TWOS]] : tensor<4x4xf32>
  %6 = stablehlo.multiply %2, %5 : tensor<4x4xf32>
  %after = stablehlo.cosine %arg2 : tensor<4x4xf32>
  // CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %arg4, %arg5
  %7 = stablehlo.add %4, %arg2 : tensor<4x4xf32>
  // CHECK-NEXT: %[[LAST:.*]] = stablehlo.add %[[SUM]], %[[PRODUCT]]
  %8 = stablehlo.add %7, %6 : tensor<4x4xf32>
  // CHECK-NEXT: sdy.return %[[PRODUCT]], %[[LAST]]
  %9 = stablehlo.custom_call @Sharding(%6) {mhlo.sharding = "{manual}"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %10 = stablehlo.custom_call @SPMDShardToFullShape(%9) {mhlo.sharding = "{devices=[2,4]<=[8]}"} : (tensor<4x4xf32>) -> tensor<8x16xf32>
  %11 = stablehlo.custom_call @SPMDShardToFullShape(%8) {mhlo.sharding = "{devices=[2,4]<=[8]}"} : (tensor<4x4xf32>) -> tensor<8x16xf32>
  // CHECK: return %[[LOCAL]]#0, %[[LOCAL]]#1, %[[AFTER]]
  return %10, %11, %after : tensor<8x16xf32>, tensor<8x16xf32>, tensor<4x4xf32>
}
