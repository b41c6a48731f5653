// RUN: sdy-opt %s --xla-sdy-round-trip-import-pipeline='enable-hlo-sharding-v3=true' | filecheck %s

// HloShardings that name their axes give the meshes too.

// CHECK: sdy.mesh @mesh = <["x"=2, "y"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 4 : i64}]}}

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}]>}) -> tensor<8xf32>
// CHECK-NEXT: %[[CONSTRAINT:.*]] = sdy.sharding_constraint %arg0 <@mesh, [{"y"}]> : tensor<8xf32>
// CHECK-NEXT: %[[NEGATE:.*]] = stablehlo.negate %[[CONSTRAINT]] : tensor<8xf32>
// CHECK-NEXT: return %[[NEGATE]] : tensor<8xf32>
func.func @main(%arg0: tensor<8xf32> {mhlo.sharding = "{mesh['x'=2,'y'=4], [{'x', ?}]}"}) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{mesh['x'=2,'y'=4], [{'y'}]}"} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.negate %0 {mhlo.sharding = "{mesh['x'=2,'y'=4], [{'y'}]}"} : tensor<8xf32>
  return %1 : tensor<8xf32>
}
