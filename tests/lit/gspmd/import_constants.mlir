// RUN: sdy-opt %s --xla-sdy-stablehlo-import-pipeline | filecheck %s

// Constants are not folded into each other on the way.

// CHECK: sdy.mesh @mesh = <["_axis_0"=2]>

// CHECK-LABEL: func.func @main
// CHECK-SAME: () -> (tensor<8xf32>, tensor<8xf32>)
// CHECK-NEXT: %[[CONSTANT:.*]] = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"_axis_0"}]>]>} dense<1.000000e+00> : tensor<8xf32>
// CHECK-NEXT: %[[CONSTANT_2:.*]] = sdy.constant dense<1.000000e+00> : tensor<8xf32>
// CHECK-NEXT: return %[[CONSTANT]], %[[CONSTANT_2]] : tensor<8xf32>, tensor<8xf32>
func.func @main() -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.constant {mhlo.sharding = "{devices=[2]<=[2]}"} dense<1.0> : tensor<8xf32>
  %1 = stablehlo.constant dense<1.0> : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
