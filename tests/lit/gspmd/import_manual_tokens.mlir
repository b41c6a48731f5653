// RUN: sdy-opt %s --xla-sdy-stablehlo-import-pipeline | filecheck %s

// Tokens have no shards: they go into the body as they are.

// CHECK: sdy.mesh @mesh = <["_axis_0"=8]>

// CHECK-LABEL: func.func public @main
// CHECK-SAME: (%arg0: !stablehlo.token, %arg1: tensor<8xf32>) -> (!stablehlo.token, tensor<8xf32>)
// CHECK-NEXT: %[[COMPUTATION:.*]]:2 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, []>, <@mesh, [{"_axis_0"}]>] out_shardings=[<@mesh, []>, <@mesh, [{"_axis_0"}]>] manual_axes={"_axis_0"} (%arg2: !stablehlo.token, %arg3: tensor<1xf32>) {
// CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %arg3 : tensor<1xf32>
// CHECK-NEXT: sdy.return %arg2, %[[NEGATE]] : !stablehlo.token, tensor<1xf32>
// CHECK-NEXT: } : (!stablehlo.token, tensor<8xf32>) -> (!stablehlo.token, tensor<8xf32>)
// CHECK-NEXT: return %[[COMPUTATION]]#0, %[[COMPUTATION]]#1 : !stablehlo.token, tensor<8xf32>
func.func public @main(%arg0: !stablehlo.token, %arg1: tensor<8xf32>) -> (!stablehlo.token, tensor<8xf32>) {
  %0 = stablehlo.custom_call @Sharding(%arg1) {mhlo.sharding = "{devices=[8]<=[8]}"} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<1xf32>
  %2:2 = call @body(%arg0, %1) : (!stablehlo.token, tensor<1xf32>) -> (!stablehlo.token, tensor<1xf32>)
  %3 = stablehlo.custom_call @Sharding(%2#1) {mhlo.sharding = "{manual}"} : (tensor<1xf32>) -> tensor<1xf32>
  %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {mhlo.sharding = "{devices=[8]<=[8]}"} : (tensor<1xf32>) -> tensor<8xf32>
  return %2#0, %4 : !stablehlo.token, tensor<8xf32>
}
func.func private @body(%arg0: !stablehlo.token, %arg1: tensor<1xf32>) -> (!stablehlo.token, tensor<1xf32>) {
  %0 = stablehlo.negate %arg1 : tensor<1xf32>
  return %arg0, %0 : !stablehlo.token, tensor<1xf32>
}
