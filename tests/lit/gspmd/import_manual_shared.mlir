// RUN: sdy-opt %s --xla-sdy-stablehlo-import-pipeline | filecheck %s

// A body that is called twice is in both computations.

// CHECK: sdy.mesh @mesh = <["_axis_0"=8]>

// CHECK-LABEL: func.func public @main
// CHECK-SAME: (%arg0: tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[COMPUTATION:.*]] = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"_axis_0"}]>] out_shardings=[<@mesh, [{"_axis_0"}]>] manual_axes={"_axis_0"} (%arg1: tensor<1xf32>) {
// CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %arg1 : tensor<1xf32>
// CHECK-NEXT: sdy.return %[[NEGATE]] : tensor<1xf32>
// CHECK-NEXT: } : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[COMPUTATION_2:.*]] = sdy.manual_computation(%[[COMPUTATION]]) in_shardings=[<@mesh, [{"_axis_0"}]>] out_shardings=[<@mesh, [{"_axis_0"}]>] manual_axes={"_axis_0"} (%arg1: tensor<1xf32>) {
// CHECK-NEXT: %[[NEGATE_2:.*]] = stablehlo.negate %arg1 : tensor<1xf32>
// CHECK-NEXT: sdy.return %[[NEGATE_2]] : tensor<1xf32>
// CHECK-NEXT: } : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: return %[[COMPUTATION_2]] : tensor<8xf32>
func.func public @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[8]<=[8]}"} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<1xf32>
  %2 = call @body(%1) : (tensor<1xf32>) -> tensor<1xf32>
  %3 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = "{manual}"} : (tensor<1xf32>) -> tensor<1xf32>
  %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {mhlo.sharding = "{devices=[8]<=[8]}"} : (tensor<1xf32>) -> tensor<8xf32>
  %5 = stablehlo.custom_call @Sharding(%4) {mhlo.sharding = "{devices=[8]<=[8]}"} : (tensor<8xf32>) -> tensor<8xf32>
  %6 = stablehlo.custom_call @SPMDFullToShardShape(%5) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<1xf32>
  %7 = call @body(%6) : (tensor<1xf32>) -> tensor<1xf32>
  %8 = stablehlo.custom_call @Sharding(%7) {mhlo.sharding = "{manual}"} : (tensor<1xf32>) -> tensor<1xf32>
  %9 = stablehlo.custom_call @SPMDShardToFullShape(%8) {mhlo.sharding = "{devices=[8]<=[8]}"} : (tensor<1xf32>) -> tensor<8xf32>
  return %9 : tensor<8xf32>
}
func.func private @body(%arg0: tensor<1xf32>) -> tensor<1xf32> {
  %0 = stablehlo.negate %arg0 : tensor<1xf32>
  return %0 : tensor<1xf32>
}
