// RUN: sdy-opt %s --xla-sdy-import-sdy-custom-calls | filecheck %s

// Ops that came as custom calls, with their attributes in those for the frontend, are ops again.

sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK: sdy.mesh @mesh = <["x"=2, "y"=4]>

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[CONSTRAINT:.*]] = sdy.sharding_constraint %arg0 <@mesh, [{"x", ?}]> : tensor<8xf32>
// CHECK-NEXT: sdy.sharding_group %[[CONSTRAINT]] group_id=21 : tensor<8xf32>
// CHECK-NEXT: %[[BARRIER:.*]] = sdy.propagation_barrier %[[CONSTRAINT]] allowed_direction=FORWARD : tensor<8xf32>
// CHECK-NEXT: return %[[BARRIER]] : tensor<8xf32>
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @Sharding(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  stablehlo.custom_call @xla.sdy.ShardingGroup(%0) {has_side_effect = true, mhlo.frontend_attributes = {xla.sdy.sharding_group_id = "21 : i64"}} : (tensor<8xf32>) -> ()
  %1 = stablehlo.custom_call @xla.sdy.PropagationBarrier(%0) {mhlo.frontend_attributes = {xla.sdy.allowed_direction = "1 : i32"}} : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
